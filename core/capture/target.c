/* target.c -- what is known of a program that is looked into, and reading its
 * memory. */
#include "core/capture/target.h"

#include <errno.h>
#include <stdlib.h>

#include "core/trace/elf.h"

/* ---- putting one together ----------------------------------------------- */

struct trail_target *trail_target_create(void)
{
    struct trail_target *target = calloc(1, sizeof(*target));
    if (target)
        target->core.fd = -1;
    return target;
}

void trail_target_destroy(struct trail_target *target)
{
    if (!target)
        return;
    for (size_t i = 0; i < target->image_count; i++)
        trail_target_image_deinit(&target->images[i]);
    trail_os_file_close(&target->core);
    free(target->memory);
    free(target->ranges);
    free(target->images);
    free(target->threads);
    free(target);
}

/* Doubled whenever it is full. */
void *trail_target_room(void *array, size_t count, size_t element_size)
{
    if (count >= TRAIL_TARGET_LIMIT)
        return NULL;
    if (count & (count - 1)) /* not a power of two, nor 0: there is room */
        return array;
    return realloc(array, (count ? 2 * count : 1) * element_size);
}

bool trail_target_add_memory(struct trail_target *target, uint64_t address,
                             const void *bytes, size_t size)
{
    struct trail_target_memory *memory =
        trail_target_room(target->memory, target->memory_count, sizeof(*memory));
    if (!memory)
        return false;
    target->memory = memory;
    memory[target->memory_count++] =
        (struct trail_target_memory){ address, bytes, size };
    return true;
}

bool trail_target_add_range(struct trail_target *target, uint64_t start, uint64_t end,
                            bool executable)
{
    struct trail_target_range *ranges =
        trail_target_room(target->ranges, target->range_count, sizeof(*ranges));
    if (!ranges)
        return false;
    target->ranges = ranges;
    ranges[target->range_count++] =
        (struct trail_target_range){ start, end, executable };
    return true;
}

bool trail_target_add_image(struct trail_target *target, uint64_t start, uint64_t end,
                            const char *path)
{
    struct trail_target_image *images =
        trail_target_room(target->images, target->image_count, sizeof(*images));
    size_t size = path ? strlen(path) + 1 : 0;
    char *copy = size ? malloc(size) : NULL;
    if (images)
        target->images = images;
    if (!images || (size && !copy)) {
        free(copy);
        return false;
    }
    if (size)
        memcpy(copy, path, size);
    images[target->image_count++] = (struct trail_target_image){
        .start = start, .end = end, .path = copy, .file.fd = -1
    };
    return true;
}

bool trail_target_add_thread(struct trail_target *target, int64_t id,
                             const struct trail_registers *registers)
{
    struct trail_target_thread *threads =
        trail_target_room(target->threads, target->thread_count, sizeof(*threads));
    if (!threads)
        return false;
    target->threads = threads;
    threads[target->thread_count] = (struct trail_target_thread){ .id = id };
    if (registers)
        threads[target->thread_count].registers = *registers;
    target->thread_count++;
    return true;
}

bool trail_target_add_mapping(struct trail_target *target, uint64_t start, uint64_t end,
                              uint64_t offset, const char *path)
{
    if (path[0] != '/' && strcmp(path, "[vdso]") != 0)
        return true;
    if (offset && target->image_count) {
        struct trail_target_image *last = &target->images[target->image_count - 1];
        if (strcmp(last->path, path) == 0 && start >= last->end) {
            last->end = end;
            return true;
        }
    }
    return offset || trail_target_add_image(target, start, end, path);
}

static int order(uint64_t a, uint64_t b)
{
    return (a > b) - (a < b);
}

static int memory_order(const void *a, const void *b)
{
    return order(((const struct trail_target_memory *)a)->address,
                 ((const struct trail_target_memory *)b)->address);
}

static int range_order(const void *a, const void *b)
{
    return order(((const struct trail_target_range *)a)->start,
                 ((const struct trail_target_range *)b)->start);
}

static int image_order(const void *a, const void *b)
{
    return order(((const struct trail_target_image *)a)->start,
                 ((const struct trail_target_image *)b)->start);
}

void trail_target_sort(struct trail_target *target)
{
    if (target->memory_count)
        qsort(target->memory, target->memory_count, sizeof(*target->memory),
              memory_order);
    if (target->range_count)
        qsort(target->ranges, target->range_count, sizeof(*target->ranges),
              range_order);
    if (target->image_count)
        qsort(target->images, target->image_count, sizeof(*target->images),
              image_order);
}

/* ---- looking things up -------------------------------------------------- */

/* The last of `count` things that starts at or below `address`; each starts with its
 * address, and they are `stride` bytes apart. NULL: none does. */
static const void *last_below(const void *things, size_t count, size_t stride,
                              uint64_t address)
{
    size_t low = 0, high = count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        uint64_t start;
        memcpy(&start, (const char *)things + middle * stride, sizeof(start));
        if (start <= address)
            low = middle + 1;
        else
            high = middle;
    }
    return low ? (const char *)things + (low - 1) * stride : NULL;
}

struct trail_target_range *trail_target_range_of(const struct trail_target *target,
                                                 uint64_t address)
{
    const struct trail_target_range *range =
        last_below(target->ranges, target->range_count, sizeof(*target->ranges),
                   address);
    return range && address < range->end ? &target->ranges[range - target->ranges]
                                         : NULL;
}

struct trail_target_image *trail_target_image_of(const struct trail_target *target,
                                                 uint64_t address)
{
    const struct trail_target_image *image =
        last_below(target->images, target->image_count, sizeof(*target->images),
                   address);
    return image && address < image->end ? &target->images[image - target->images]
                                         : NULL;
}

const char *trail_target_arch(const struct trail_target *target)
{
    return target->machine->name;
}

size_t trail_target_thread_count(const struct trail_target *target)
{
    return target->thread_count;
}

int64_t trail_target_thread(const struct trail_target *target, size_t index)
{
    return index < target->thread_count ? target->threads[index].id : 0;
}

/* ---- reading ------------------------------------------------------------ */

/* What a file has for an address that there is no copy of. */
static bool read_image(const struct trail_target *target, uint64_t address, void *to,
                       size_t size)
{
    struct trail_elf elf;
    struct trail_text bytes;
    struct trail_target_image *image = trail_target_image_of(target, address);
    if (image)
        trail_target_image_look(target, image);
    if (!image || !image->bytes || !trail_elf_parse(image->bytes, image->size, &elf) ||
        !trail_elf_at(&elf, address - image->bias, size, &bytes))
        return false;
    memcpy(to, bytes.data, size);
    return true;
}

/* What there is no copy of. Of a process that was let go, only code and files are still
 * as they were; if it has ended since, its files have them. */
static int read_rest(const struct trail_target *target, uint64_t address, void *to,
                     size_t size)
{
    const struct trail_target_range *range = trail_target_range_of(target, address);
    if (target->frozen &&
        ((range && range->executable) || trail_target_image_of(target, address)) &&
        trail_os_live_copy(target->pid, address, to, size) == 0)
        return 0;
    return target->machine && read_image(target, address, to, size) ? 0 : EFAULT;
}

int trail_target_read(const struct trail_target *target, uint64_t address, void *to,
                      size_t size)
{
    uint8_t *at = to;
    if (target->pid && !target->frozen)
        return trail_os_live_copy(target->pid, address, to, size);
    while (size) {
        const struct trail_target_memory *memory =
            last_below(target->memory, target->memory_count, sizeof(*target->memory),
                       address);
        if (!memory || address - memory->address >= memory->size)
            return read_rest(target, address, at, size);
        size_t offset = (size_t)(address - memory->address);
        size_t part = memory->size - offset < size ? memory->size - offset : size;
        memcpy(at, (const uint8_t *)memory->bytes + offset, part);
        at += part;
        address += part;
        size -= part;
    }
    return 0;
}

int trail_target_registers(const struct trail_target *target, size_t index,
                           struct trail_registers *registers_ret)
{
    uint8_t set[1024];
    size_t size = 0;
    if (!target->pid || target->frozen) {
        *registers_ret = target->threads[index].registers;
        return 0;
    }
    int error =
        trail_os_stopped_registers(target->threads[index].id, set, sizeof(set), &size);
    if (!error && !trail_target_register_set(target->machine, set, size, registers_ret))
        error = ENOTSUP;
    return error;
}
