/* process_text.c -- a process that this one holds by ptrace, as a raw trace. */
#include "agent/outside/process_text.h"

#include <stdlib.h>

#include "core/capture/target.h"
#include "core/trace/signal_words.h"

#define NAME_SIZE 32

/* Threads and their names; both are owned. */
struct named {
    struct outside_thread *threads;
    char (*names)[NAME_SIZE];
};

static void read_name(int64_t tid, char name_ret[NAME_SIZE])
{
    char path[64];
    snprintf(path, sizeof(path), "/proc/%lld/comm", (long long)tid);
    FILE *file = fopen(path, "re");
    if (!file || !fgets(name_ret, NAME_SIZE, file))
        name_ret[0] = 0;
    name_ret[strcspn(name_ret, "\n")] = 0;
    if (file)
        fclose(file);
}

static bool name_threads(const struct trail_target *target, struct named *named)
{
    const size_t count = target->thread_count;
    named->threads = calloc(count + 1, sizeof(*named->threads));
    named->names = calloc(count + 1, sizeof(*named->names));
    if (!named->threads || !named->names)
        return false;
    for (size_t i = 0; i < count; i++) {
        const int64_t tid = target->threads[i].id;
        read_name(tid, named->names[i]);
        named->threads[i] = (struct outside_thread){
            .tid = tid, .name = named->names[i][0] ? named->names[i] : NULL
        };
    }
    return true;
}

enum trail_status outside_process_text(int64_t pid, int64_t tid,
                                       const struct outside_signal *signal,
                                       const uint8_t id[16], char **text_ret,
                                       size_t *size_ret, struct trail_error *err)
{
    struct trail_target *target = NULL;
    struct named named = { .threads = NULL };
    struct trail_os_process process;
    enum trail_status status = trail_target_process(pid, &target, err);
    if (status)
        return status;
    if (!name_threads(target, &named)) {
        status =
            trail_fail(err, TRAIL_NO_MEMORY, "process %lld: no memory", (long long)pid);
        goto out;
    }
    trail_os_process_of(pid, &process);
    struct outside_facts facts = { .why = "crash",
                                   .id = id,
                                   .mono_ns = trail_os_mono_ns(),
                                   .process = &process,
                                   .signal = *signal,
                                   .crashed_tid = tid,
                                   .threads = named.threads,
                                   .thread_count = target->thread_count };
    facts.signal.has_address = trail_signal_has_address(signal->number, signal->code);
    status = outside_trace_text(target, &facts, text_ret, size_ret, err);
out:
    free(named.threads);
    free(named.names);
    trail_target_destroy(target);
    return status;
}
