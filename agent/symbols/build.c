/* build.c -- origin maps, built by the configured symbolizers. */
#define _POSIX_C_SOURCE 200809L

#include "agent/symbols/build.h"

#include <unistd.h>

#include "agent/progress.h"
#include "agent/symbols/interrupt.h"
#include "config/units.h"
#include "core/resolve/open.h"
#include "core/resolve/origin_build.h"

#define THREADS_DEFAULT_MAX 8

/* ---- what a symbolizer may ask of its host ------------------------------ */

/* The open module's own calls; those that change it come one at a time, since every
 * thread that builds makes them. */
struct host {
    struct trail_call inner;
    struct trail_os_mutex lock;
};

static int host_stop(void *arg)
{
    const struct host *host = arg;
    return interrupt_came() || host->inner.stop(host->inner.host);
}

static void host_log(void *arg, int level, struct trail_text text)
{
    const struct host *host = arg;
    host->inner.log(host->inner.host, level, text);
}

static enum trail_status host_find(void *arg, const struct trail_want *want,
                                   struct trail_source *source_ret)
{
    struct host *host = arg;
    trail_os_mutex_lock(&host->lock);
    enum trail_status status = host->inner.find(host->inner.host, want, source_ret);
    trail_os_mutex_unlock(&host->lock);
    return status;
}

static void host_release(void *arg, struct trail_source *source)
{
    struct host *host = arg;
    trail_os_mutex_lock(&host->lock);
    host->inner.release(host->inner.host, source);
    trail_os_mutex_unlock(&host->lock);
}

static enum trail_status host_read(void *arg, uint64_t link_address, void *to,
                                   size_t size)
{
    const struct host *host = arg;
    return host->inner.read(host->inner.host, link_address, to, size);
}

static struct trail_call host_call(struct host *host)
{
    struct trail_call call = host->inner;
    call.deadline_ns = 0; /* it is waited for, and may be interrupted */
    call.host = host;
    call.stop = host_stop;
    call.log = host_log;
    call.find = host_find;
    call.release = host_release;
    call.read = host->inner.read ? host_read : NULL;
    return call;
}

/* ---- what the header says ----------------------------------------------- */

/* The file that the answers are from: of the module's own and its debug file the one
 * that tells more. */
static const struct trail_symbol_file *source_of(const struct trail_open *open)
{
    const struct trail_symbol_file *best = NULL;
    for (const struct trail_symbol_file *file = open->files; file; file = file->next) {
        uint32_t role = file->source.role;
        if (role != TRAIL_ROLE_IMAGE && role != TRAIL_ROLE_DEBUG)
            continue;
        if (!best || file->rank > best->rank ||
            (file->rank == best->rank && role == TRAIL_ROLE_DEBUG))
            best = file;
    }
    return best;
}

static struct origin_info info_of(const struct trail_open *open)
{
    const struct trail_module *module = &open->target->module;
    const struct trail_plugin *plugin = open->link->plugin;
    const struct trail_symbol_file *source = source_of(open);
    struct trail_os_stat stat;
    struct origin_info info = { .format = module->format,
                                .arch = module->arch,
                                .id_kind = module->id_kind,
                                .shape = plugin->shape };
    if (module->id.size <= sizeof(info.id)) {
        info.id_size = (uint32_t)module->id.size;
        memcpy(info.id, module->id.data, module->id.size);
    }
    snprintf(info.plugin, sizeof(info.plugin), "%s", plugin->name);
    snprintf(info.release, sizeof(info.release), "%s", plugin->release);
    if (!source)
        return info;
    info.route = source->source.route;
    info.source = source->source.name;
    info.source_size = source->source.bytes_size;
    if (source->file.fd >= 0 && !trail_os_stat_fd(source->file.fd, &stat, NULL))
        info.source_modified_ns = stat.modified_ns;
    return info;
}

/* ---- building ----------------------------------------------------------- */

struct building {
    uint32_t threads;
    const char *path;
    uint64_t progress_size, told_size;
    bool opened; /* by any symbolizer */
    enum trail_status status;
    struct trail_error err;
};

static void tell_progress(void *arg, unsigned done, unsigned total)
{
    struct building *building = arg;
    uint64_t size = building->progress_size / total * done;
    if (size > building->told_size) {
        progress_add((size_t)(size - building->told_size));
        building->told_size = size;
    }
}

/* True: no other symbolizer is to be asked. */
static bool build_open(void *arg, struct trail_open *open)
{
    struct building *building = arg;
    const struct trail_symbolizer *symbolizer = open->link->plugin->symbolizer;
    building->opened = true;
    if (!symbolizer->enumerate)
        return false;
    open->deadline_ns = 0;
    struct host host = { .inner = trail_open_call(open) };
    const struct trail_call call = host_call(&host);
    const struct trail_origin_job job = { .symbolizer = symbolizer,
                                          .image = open->image,
                                          .call = &call,
                                          .info = info_of(open),
                                          .threads = building->threads,
                                          .progress = tell_progress,
                                          .progress_arg = building };
    trail_os_mutex_init(&host.lock);
    building->status = trail_origin_build(&job, building->path, &building->err);
    trail_os_mutex_deinit(&host.lock);
    return building->status != TRAIL_NOT_FOUND && building->status != TRAIL_UNSUPPORTED;
}

static void set_failure(struct build_failure *failure, const char *reason,
                        const char *remedy)
{
    snprintf(failure->reason, sizeof(failure->reason), "%s", reason);
    snprintf(failure->remedy, sizeof(failure->remedy), "%s", remedy ? remedy : "");
}

/* No symbolizer could open it: a lookup says why. */
static enum trail_status explain(struct trail_resolver *resolver,
                                 const struct trail_target *target,
                                 struct build_failure *failure, struct trail_error *err)
{
    struct trail_arena arena = { 0 };
    struct trail_answer answer = { 0 };
    struct trail_gap gap = { 0 };
    const uint64_t address = target->module.link_start;
    trail_resolver_lookup(resolver, target, &address, 1, TRAIL_LOOKUP_NO_CACHE, &arena,
                          &answer, &gap);
    set_failure(failure, gap.reason ? gap.reason : "unreadable", gap.remedy);
    bool gone = gap.reason && strcmp(gap.reason, "unreadable") != 0;
    trail_fail(err, TRAIL_NOT_FOUND, "%.250s",
               gap.detail ? gap.detail : "it could not be opened");
    trail_arena_deinit(&arena);
    return gone ? TRAIL_NOT_FOUND : TRAIL_BAD_INPUT;
}

static const char *reason_of(enum trail_status status)
{
    switch (status) {
    case TRAIL_NOT_FOUND:
    case TRAIL_UNSUPPORTED:
        return "no_symbols";
    case TRAIL_CANCELLED:
        return "cancelled";
    case TRAIL_IO:
        return "unwritable";
    default:
        return "unreadable";
    }
}

enum trail_status build_map(struct symbols_session *session,
                            const struct trail_target *target, uint32_t threads,
                            const char *path, uint64_t progress_size,
                            struct build_failure *failure_ret, struct trail_error *err)
{
    struct building building = { .threads = threads,
                                 .path = path,
                                 .progress_size = progress_size,
                                 .status = TRAIL_UNSUPPORTED };
    struct trail_resolver *resolver = trail_pipeline_resolver(session->pipeline, err);
    set_failure(failure_ret, "no_symbolizer", NULL);
    if (!resolver)
        return TRAIL_BAD_INPUT;
    trail_fail(&building.err, TRAIL_UNSUPPORTED,
               "no symbolizer that reads it can tell all that it knows");
    /* Not by a map that there is already. */
    trail_resolver_each(resolver, target,
                        TRAIL_LOOKUP_NO_CACHE | TRAIL_LOOKUP_DISCRIMINATORS, build_open,
                        &building);
    progress_add((size_t)(progress_size - building.told_size));
    if (!building.opened)
        return explain(resolver, target, failure_ret, err);
    if (building.status == TRAIL_OK)
        return TRAIL_OK;
    set_failure(failure_ret, reason_of(building.status), NULL);
    return trail_fail(err, building.status, "%s",
                      interrupt_came() ? "interrupted" : building.err.text);
}

bool build_threads(const struct symbols_options *options, uint32_t *threads_ret)
{
    uint64_t count;
    long processors = sysconf(_SC_NPROCESSORS_ONLN);
    *threads_ret = processors < 1                     ? 1
                   : processors > THREADS_DEFAULT_MAX ? THREADS_DEFAULT_MAX
                                                      : (uint32_t)processors;
    if (!options->threads)
        return true;
    if (trail_parse_count(options->threads, &count) || count == 0 ||
        count > BUILD_THREADS_MAX)
        return false;
    *threads_ret = (uint32_t)count;
    return true;
}
