/* process.c -- every module that is mapped in a process. */
#include "agent/doctor/doctor.h"

#include <inttypes.h>

#include "agent/process.h"

struct walk {
    const struct doctor_session *session;
    int64_t pid;
    void (*each)(void *arg, struct doctor_report *report);
    void *arg;
};

static void examine(void *arg, const struct process_module *module)
{
    const struct walk *walk = arg;
    struct doctor_report report = { .count = 0 };
    snprintf(report.subject, sizeof(report.subject), "%s", module->name);
    if (module->opened)
        doctor_examine_file(walk->session, module->opened, module->name, &report);
    else if (module->bytes)
        doctor_examine_memory(walk->session, module->bytes, module->size, module->name,
                              &report);
    else if (module->vdso)
        doctor_note(&report, DOCTOR_WARN, "file", "run it as root",
                    "the memory of process %" PRId64 " cannot be read", walk->pid);
    else
        doctor_note(&report, DOCTOR_BAD, "file",
                    "run it as root, or restart the program with the file that is "
                    "there now",
                    "deleted, replaced or not to be read, though the process still "
                    "runs its code");
    walk->each(walk->arg, &report);
}

static void note_generated(const struct walk *walk, size_t generated)
{
    char path[64];
    struct doctor_report report = { .subject = "(generated code)" };
    struct trail_os_stat stat;
    if (generated == 0)
        return;
    snprintf(path, sizeof(path), "/proc/%" PRId64 "/root%s/perf-%" PRId64 ".map",
             walk->pid, "/tmp", walk->pid);
    bool named = trail_os_stat_path(path, &stat, NULL) == TRAIL_OK;
    doctor_note(&report, named ? DOCTOR_OK : DOCTOR_WARN, "names",
                named ? NULL : "have its runtime write a perf map (perf-PID.map)",
                "%zu executable mappings of no file%s", generated,
                named ? ", and a perf map that names them" : "");
    walk->each(walk->arg, &report);
}

enum trail_status doctor_examine_process(const struct doctor_session *session,
                                         int64_t pid,
                                         void (*each)(void *arg,
                                                      struct doctor_report *report),
                                         void *arg, struct trail_error *err)
{
    struct walk walk = { .session = session, .pid = pid, .each = each, .arg = arg };
    size_t generated = 0;
    enum trail_status status =
        process_each_module(pid, examine, &walk, &generated, err);
    note_generated(&walk, generated);
    return status;
}
