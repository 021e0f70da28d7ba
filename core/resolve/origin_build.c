/* origin_build.c -- asks for all parts, puts them together, writes the map. */
#include "core/resolve/origin_build.h"

#include <stdlib.h>

#include "core/os/os.h"
#include "core/resolve/origin_sections.h"
#include "core/resolve/origin_slices.h"

/* Of the progress that is told, the share of asking and that of writing. */
#define STEPS_WRITING 8u
#define STEPS         (TRAIL_ORIGIN_PARTS + STEPS_WRITING)

struct build {
    const struct trail_origin_job *job;
    struct trail_collector collectors[TRAIL_ORIGIN_THREADS_MAX];
    struct trail_merged merged;
    struct trail_claims claims;
    struct trail_slices slices;
    struct origin_map_writer writer;
    struct trail_os_new_file file;
    struct trail_error write_error;

    struct trail_os_mutex mutex; /* of what follows */
    uint32_t next_part, parts_done;
    enum trail_status status;
    struct trail_error error;
};

/* One of the threads. */
struct worker {
    struct build *build;
    struct trail_collector *collector;
    struct trail_os_thread thread;
};

static void tell(const struct build *build, unsigned done)
{
    if (build->job->progress)
        build->job->progress(build->job->progress_arg, done, STEPS);
}

static bool is_stopped(const struct build *build)
{
    const struct trail_call *call = build->job->call;
    return call->stop && call->stop(call->host);
}

/* ---- asking -------------------------------------------------------------- */

static enum trail_status ask_part(struct worker *worker, uint32_t part,
                                  struct trail_error *err)
{
    const struct trail_origin_job *job = worker->build->job;
    struct trail_map_out out;
    enum trail_status status = trail_collector_part(worker->collector, part, &out);
    if (status)
        return trail_fail(err, status, "out of memory");
    if (is_stopped(worker->build))
        return trail_fail(err, TRAIL_CANCELLED, "stopped");
    struct trail_call call = *job->call;
    call.threads = 1;
    err->text[0] = 0;
    status = job->symbolizer->enumerate(job->image, &call, part, TRAIL_ORIGIN_PARTS,
                                        &out, err);
    trail_collector_part_end(worker->collector);
    if (status && !err->text[0])
        trail_fail(err, status,
                   status == TRAIL_NO_MEMORY   ? "out of memory"
                   : status == TRAIL_CANCELLED ? "stopped"
                                               : "what the symbolizer says of the "
                                                 "module makes no sense");
    return status;
}

static void ask_parts(void *arg)
{
    struct worker *worker = arg;
    struct build *build = worker->build;
    trail_os_mutex_lock(&build->mutex);
    while (!build->status && build->next_part < TRAIL_ORIGIN_PARTS) {
        uint32_t part = build->next_part++;
        struct trail_error error;
        trail_os_mutex_unlock(&build->mutex);
        enum trail_status status = ask_part(worker, part, &error);
        trail_os_mutex_lock(&build->mutex);
        if (status && !build->status) {
            build->status = status;
            build->error = error;
        }
        if (!status)
            tell(build, ++build->parts_done);
    }
    trail_os_mutex_unlock(&build->mutex);
}

static void make_slices(void *arg)
{
    struct worker *worker = arg;
    trail_slices_run(&worker->build->slices);
}

/* Have `body` run on each of `count` threads, this one being the first. Where there are
 * no more threads to be had the others do it all. */
static void run_all(struct build *build, uint32_t count, void (*body)(void *arg))
{
    struct worker workers[TRAIL_ORIGIN_THREADS_MAX];
    uint32_t started = 1;
    for (uint32_t i = 0; i < count; i++)
        workers[i] = (struct worker){ build, &build->collectors[i], { 0 } };
    while (started < count &&
           trail_os_thread_start(body, &workers[started], "trail-origin",
                                 &workers[started].thread, NULL) == TRAIL_OK)
        started++;
    body(&workers[0]);
    for (uint32_t i = 1; i < started; i++)
        trail_os_thread_join(workers[i].thread);
}

/* ---- writing ------------------------------------------------------------- */

static enum trail_status write_bytes(void *arg, uint64_t offset, const void *bytes,
                                     size_t size)
{
    struct build *build = arg;
    return trail_os_new_file_write(&build->file, offset, bytes, size,
                                   &build->write_error);
}

static int slice_done(void *arg, uint32_t done, uint32_t total)
{
    struct build *build = arg;
    tell(build,
         TRAIL_ORIGIN_PARTS + (unsigned)((uint64_t)done * (STEPS_WRITING - 1) / total));
    return is_stopped(build);
}

static enum trail_status write_regions(struct build *build, uint32_t threads,
                                       struct origin_head *head,
                                       struct trail_error *err)
{
    head->layout = trail_origin_layout(&build->merged);
    build->slices = (struct trail_slices){ .merged = &build->merged,
                                           .claims = &build->claims,
                                           .writer = &build->writer,
                                           .layout = head->layout,
                                           .step = slice_done,
                                           .arg = build };
    enum trail_status status = trail_slices_init(&build->slices);
    if (!status) {
        run_all(build, threads, make_slices);
        status = trail_slices_finish(&build->slices);
    }
    trail_slices_deinit(&build->slices);
    return status ? trail_fail(err, status,
                               status == TRAIL_NO_MEMORY     ? "out of memory"
                               : status == TRAIL_CANCELLED   ? "stopped"
                               : status == TRAIL_UNSUPPORTED ? "over 4 GiB of answers"
                                                             : "%s",
                               build->write_error.text)
                  : TRAIL_OK;
}

static enum trail_status write_map(struct build *build, uint32_t threads,
                                   struct trail_error *err)
{
    struct origin_head head = { .info = build->job->info };
    origin_map_write_start(&build->writer, write_bytes, build, &head.info);
    enum trail_status status = write_regions(build, threads, &head, err);
    if (!status)
        status = trail_origin_sections(&build->merged, &build->claims, &build->writer,
                                       &head, err);
    enum trail_status written = origin_map_write_finish(&build->writer, &head);
    if (!status && written)
        status = trail_fail(err, written, "%s",
                            written == TRAIL_NO_MEMORY ? "out of memory"
                                                       : build->write_error.text);
    return status;
}

/* ---- all ----------------------------------------------------------------- */

static enum trail_status merge(struct build *build, uint32_t threads,
                               struct trail_error *err)
{
    enum trail_status status =
        trail_merge(build->collectors, threads, TRAIL_ORIGIN_PARTS, &build->merged);
    if (status)
        return trail_fail(err, status, "out of memory");
    if (!build->merged.run_count && !build->merged.symbol_count)
        return trail_fail(err, TRAIL_NOT_FOUND,
                          "nothing is known of it that a map could hold");
    return trail_claims_init(&build->claims, build->merged.runs,
                             build->merged.run_count, err);
}

static enum trail_status build_map(struct build *build, const char *path,
                                   struct trail_error *err)
{
    uint32_t threads = build->job->threads;
    threads = !threads                             ? 1
              : threads > TRAIL_ORIGIN_THREADS_MAX ? TRAIL_ORIGIN_THREADS_MAX
                                                   : threads;
    for (uint32_t i = 0; i < TRAIL_ORIGIN_THREADS_MAX; i++)
        trail_collector_init(&build->collectors[i], TRAIL_ORIGIN_LIMIT);
    run_all(build, threads, ask_parts);
    if (build->status)
        return trail_fail(err, build->status, "%s", build->error.text);
    enum trail_status status = merge(build, threads, err);
    if (status)
        return status;
    status = trail_os_new_file_open(path, 0644, &build->file, err);
    if (!status)
        status = write_map(build, threads, err);
    if (!status)
        status = trail_os_new_file_keep(&build->file, err);
    if (!status)
        tell(build, STEPS);
    return status;
}

enum trail_status trail_origin_build(const struct trail_origin_job *job,
                                     const char *path, struct trail_error *err)
{
    const struct trail_symbolizer *symbolizer = job->symbolizer;
    if (symbolizer->size < offsetof(struct trail_symbolizer, calls) ||
        !symbolizer->enumerate)
        return trail_fail(err, TRAIL_UNSUPPORTED,
                          "the symbolizer cannot tell all that it knows");
    struct build *build = calloc(1, sizeof(*build));
    if (!build)
        return trail_fail(err, TRAIL_NO_MEMORY, "out of memory");
    build->job = job;
    build->file.fd = -1;
    enum trail_status status = build_map(build, path, err);
    trail_os_new_file_drop(&build->file);
    trail_claims_deinit(&build->claims);
    trail_merged_deinit(&build->merged);
    for (uint32_t i = 0; i < TRAIL_ORIGIN_THREADS_MAX; i++)
        trail_collector_deinit(&build->collectors[i]);
    free(build);
    return status;
}
