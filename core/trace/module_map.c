/* module_map.c -- the images that this process has mapped, and those it had. */
#include "core/trace/module_map.h"

#include <stdatomic.h>
#include <stdlib.h>

#include "core/trace/stamp.h"
#include "core/trace/epoch.h"

/* One map a process: the loader is one, too. */
static struct {
    struct trail_mapped *images;
    size_t count, room;
    uint64_t loads, unloads;
    bool incomplete; /* the last refresh ran out of memory: the next one starts over */
} map;
static _Atomic uint64_t epoch = 1;
static struct trail_os_mutex lock;

uint64_t trail_epoch_now(void)
{
    return atomic_load_explicit(&epoch, memory_order_relaxed);
}

/* A child of fork gets the map as it was, and a lock that nobody holds. */
static void fork_prepare(void)
{
    trail_os_mutex_lock(&lock);
}

static void fork_done(void)
{
    trail_os_mutex_unlock(&lock);
}

__attribute__((constructor)) static void map_init(void)
{
    trail_os_at_fork(fork_prepare, fork_done, fork_done);
}

static bool same_image(const struct trail_mapped *image,
                       const struct trail_os_module *module, uint64_t hash)
{
    return image->last == 0 && image->bias == module->bias && image->hash == hash;
}

static void image_fill(struct trail_mapped *image, const struct trail_os_module *module)
{
    struct trail_text id;
    if (trail_stamp_build_id(module, &id) && id.size <= sizeof(image->id)) {
        memcpy(image->id, id.data, id.size);
        image->id_size = (uint8_t)id.size;
    } else {
        image->has_text_hash = trail_stamp_text_hash(module, image->text_hash);
    }
    image->bias = module->bias;
    image->vdso = module->vdso;
    image->main_program = module->main_program;
    for (uint16_t i = 0; i < module->header_count; i++) {
        struct trail_os_segment segment = trail_os_module_segment(module, i);
        if (segment.load && image->range_count < TRAIL_MAP_RANGES)
            image->ranges[image->range_count++] = segment;
    }
}

/* Room for one more image: the image unmapped longest ago makes way at the limit. */
static struct trail_mapped *image_add(void)
{
    if (map.count == TRAIL_MAP_LIMIT) {
        size_t oldest = map.count;
        for (size_t i = 0; i < map.count; i++)
            if (map.images[i].last &&
                (oldest == map.count || map.images[i].last < map.images[oldest].last))
                oldest = i;
        if (oldest == map.count)
            return NULL;
        free(map.images[oldest].path);
        map.images[oldest] = map.images[--map.count];
    }
    if (map.count == map.room) {
        size_t room = map.room ? map.room * 2 : 32;
        struct trail_mapped *grown = realloc(map.images, room * sizeof(*grown));
        if (!grown)
            return NULL;
        map.images = grown;
        map.room = room;
    }
    return &map.images[map.count];
}

struct refresh {
    bool counted, unchanged, out_of_memory;
    uint64_t loads, unloads;
};

/* False: out of memory. */
static bool image_meet(const struct trail_os_module *module)
{
    uint64_t hash = trail_stamp_hash(module);
    for (size_t i = 0; i < map.count; i++)
        if (!map.images[i].seen && same_image(&map.images[i], module, hash)) {
            map.images[i].seen = true;
            return true;
        }

    struct trail_mapped *image = image_add();
    size_t size = strlen(module->path) + 1;
    char *path = image ? malloc(size) : NULL;
    if (!path)
        return false;
    memcpy(path, module->path, size);
    *image = (struct trail_mapped){
        .path = path, .hash = hash, .seen = true, .first = trail_epoch_now() + 1
    };
    image_fill(image, module);
    map.count++;
    return true;
}

static bool on_module(void *arg, const struct trail_os_module *module)
{
    struct refresh *refresh = arg;
    if (!refresh->counted) {
        refresh->counted = true;
        refresh->loads = module->loads;
        refresh->unloads = module->unloads;
        refresh->unchanged = map.count && !map.incomplete &&
                             module->loads == map.loads &&
                             module->unloads == map.unloads;
    }
    if (refresh->unchanged)
        return false;
    refresh->out_of_memory = !image_meet(module) || refresh->out_of_memory;
    return true;
}

static enum trail_status refresh_locked(struct trail_error *err)
{
    struct refresh refresh = { 0 };
    trail_os_modules(on_module, &refresh);
    if (refresh.unchanged)
        return TRAIL_OK;

    uint64_t now = trail_epoch_now();
    for (size_t i = 0; i < map.count; i++) {
        if (!map.images[i].seen && map.images[i].last == 0)
            map.images[i].last = now;
        map.images[i].seen = false;
    }
    map.loads = refresh.loads;
    map.unloads = refresh.unloads;
    atomic_store(&epoch, now + 1);
    map.incomplete = refresh.out_of_memory;
    if (map.incomplete)
        return trail_fail(err, TRAIL_NO_MEMORY, "module map: out of memory");
    return TRAIL_OK;
}

enum trail_status trail_module_map_refresh(struct trail_error *err)
{
    trail_os_mutex_lock(&lock);
    enum trail_status status = refresh_locked(err);
    trail_os_mutex_unlock(&lock);
    return status;
}

static bool holds(const struct trail_mapped *image, uint64_t pc)
{
    for (uint8_t i = 0; i < image->range_count; i++)
        if (pc >= image->ranges[i].start && pc < image->ranges[i].end)
            return true;
    return false;
}

/* The stamp taken of the image around `pc`, or NULL. */
static const struct trail_stamp *stamp_at(const struct trail_backtrace *backtrace,
                                          uint64_t pc)
{
    for (uint32_t i = 0; i < backtrace->stamp_count; i++)
        if (pc >= backtrace->stamps[i].start && pc < backtrace->stamps[i].end)
            return &backtrace->stamps[i];
    return NULL;
}

/* The image that `pc` lay in at capture. With a stamp it is the one of equal hash, even
 * if it has been unmapped since, or another lies in its place now; it was mapped at
 * capture, whatever the last refresh had seen. Without one, the epochs decide. */
static struct trail_mapped *image_at(const struct trail_backtrace *backtrace,
                                     uint64_t pc)
{
    const struct trail_stamp *stamp = stamp_at(backtrace, pc);
    struct trail_mapped *best = NULL;
    bool best_was_mapped = false;
    for (size_t i = 0; i < map.count; i++) {
        struct trail_mapped *image = &map.images[i];
        bool was_mapped = image->first <= backtrace->epoch &&
                          (image->last == 0 || image->last >= backtrace->epoch);
        bool wanted = stamp ? image->hash == stamp->hash : was_mapped;
        if (!wanted || !holds(image, pc))
            continue;
        /* The same file may have been mapped there before, and be mapped again. */
        bool is_mapped = image->last == 0 && !best_was_mapped;
        if (!best || was_mapped || is_mapped)
            best = image;
        best_was_mapped = best_was_mapped || was_mapped;
    }
    if (stamp && best && best->first > backtrace->epoch)
        best->first = backtrace->epoch;
    if (stamp && best && best->last && best->last < backtrace->epoch)
        best->last = backtrace->epoch;
    return best;
}

/* What is left of an image that was unmapped before the map had it: its extent. */
static struct trail_mapped unknown_image(const struct trail_backtrace *backtrace,
                                         const struct trail_stamp *stamp)
{
    struct trail_mapped image = {
        .path = (char *)(uintptr_t) "",
        .hash = stamp->hash,
        .first = backtrace->epoch,
        .last = backtrace->epoch,
        .range_count = 1,
    };
    image.ranges[0] = (struct trail_os_segment){ .start = stamp->start,
                                                 .end = stamp->end,
                                                 .load = true };
    return image;
}

/* Images and stamps that have been told, so that each is told once. */
struct told {
    const void *at[TRAIL_MAX_FRAMES];
    size_t count;
};

static bool tell_once(struct told *told, const void *thing)
{
    for (size_t i = 0; i < told->count; i++)
        if (told->at[i] == thing)
            return false;
    told->at[told->count++] = thing;
    return true;
}

enum trail_status trail_module_map_touched(
    const struct trail_backtrace *backtrace,
    void (*each)(void *arg, const struct trail_mapped *image), void *arg,
    struct trail_error *err)
{
    struct told told = { .count = 0 };

    trail_os_mutex_lock(&lock);
    enum trail_status status = refresh_locked(err);
    for (uint32_t i = 0; !status && i < backtrace->count; i++) {
        uint64_t pc = backtrace->addresses[i];
        const struct trail_mapped *image = image_at(backtrace, pc);
        const struct trail_stamp *stamp = stamp_at(backtrace, pc);
        if (image && tell_once(&told, image)) {
            each(arg, image);
        } else if (!image && stamp && tell_once(&told, stamp)) {
            struct trail_mapped unknown = unknown_image(backtrace, stamp);
            each(arg, &unknown);
        }
    }
    trail_os_mutex_unlock(&lock);
    return status;
}

/* ---- without a lock ----------------------------------------------------- */

struct extent {
    uint64_t start, end;
};

static bool is_told(const struct trail_backtrace *backtrace, uint32_t first,
                    uint32_t index, const struct extent *extent)
{
    for (uint32_t i = first; i < index; i++)
        if (backtrace->addresses[i] >= extent->start &&
            backtrace->addresses[i] < extent->end)
            return true;
    return false;
}

/* As the map had it; false: it did not, or is in use. */
static bool tell_remembered(const struct trail_backtrace *backtrace, uint64_t pc,
                            void (*each)(void *arg, const struct trail_mapped *image),
                            void *arg)
{
    if (!trail_os_mutex_try_lock(&lock))
        return false;
    const struct trail_mapped *image = image_at(backtrace, pc);
    if (image)
        each(arg, image);
    trail_os_mutex_unlock(&lock);
    return image != NULL;
}

static void tell_gone(const struct trail_backtrace *backtrace, uint64_t pc,
                      const struct trail_stamp *stamp,
                      void (*each)(void *arg, const struct trail_mapped *image),
                      void *arg)
{
    if (tell_remembered(backtrace, pc, each, arg))
        return;
    struct trail_mapped unknown = unknown_image(backtrace, stamp);
    unknown.path = (char *)(uintptr_t) "[unloaded]";
    unknown.bias = stamp->start;
    unknown.ranges[0].executable = true; /* the stack went through it */
    each(arg, &unknown);
}

void trail_module_map_present(const struct trail_backtrace *backtrace, uint32_t first,
                              void (*each)(void *arg, const struct trail_mapped *image),
                              void *arg)
{
    for (uint32_t i = first; i < backtrace->count; i++) {
        uint64_t pc = backtrace->addresses[i];
        const struct trail_stamp *stamp = stamp_at(backtrace, pc);
        struct trail_os_module module;
        struct extent extent = { 0, 0 };
        bool found = trail_os_module_at(pc, &module, &extent.start, &extent.end) &&
                     (!stamp || trail_stamp_hash(&module) == stamp->hash);
        if (!found && stamp)
            extent = (struct extent){ stamp->start, stamp->end };
        if (is_told(backtrace, first, i, &extent))
            continue;
        if (found) {
            struct trail_mapped image = { .path = (char *)(uintptr_t)module.path };
            image_fill(&image, &module);
            each(arg, &image);
        } else if (stamp) {
            tell_gone(backtrace, pc, stamp, each, arg);
        }
    }
}
