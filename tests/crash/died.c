/* died.c -- a program is run until it has died, and what it left is read. */
#define _GNU_SOURCE

#include "produced.h"

#include "died.h"

#include <dirent.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "core/os/os.h"

#define HUNG_S 60 /* generous: a busy machine is slow, but nothing here waits long */

static char *read_text(const struct died *died, const char *name)
{
    char path[200], *text = NULL;
    size_t size;
    snprintf(path, sizeof(path), "%s/%s", died->place, name);
    assert_ok(trail_os_file_read(path, 1 << 22, &text, &size, NULL));
    return text;
}

void died_begin(struct died *died)
{
    *died = (struct died){ .place = "/tmp/trail-crash-XXXXXX" };
    assert_non_null(mkdtemp(died->place));
    snprintf(died->inbox, sizeof(died->inbox), "%s/inbox", died->place);
    assert_int_equal(mkdir(died->inbox, 0700), 0);
}

static void redirect(const struct died *died, const char *name, int to)
{
    char path[200];
    snprintf(path, sizeof(path), "%s/%s", died->place, name);
    int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC, 0600);
    if (fd < 0 || dup2(fd, to) < 0)
        _exit(99);
    close(fd);
}

static void run_child(struct died *died, const char *way,
                      void (*prepare)(struct died *died))
{
    const struct rlimit none = { 0, 0 };
    setrlimit(RLIMIT_CORE, &none);
    setpgid(0, 0);
    setenv("CRASHING_LIBRARY", CRASHING_LIBRARY, 1);
    redirect(died, "out", 1);
    redirect(died, "err", 2);
    alarm(0);
    if (prepare)
        prepare(died);
    execl(CRASH_DIES, "crash_dies", way, died->inbox, (char *)NULL);
    _exit(98);
}

/* Wait with a limit; -1: it hung. Nothing that it started is left behind. */
static int wait_for(pid_t child)
{
    int status = -1;
    const struct timespec bit = { .tv_nsec = 2000000 };
    const uint64_t until_ns = trail_os_mono_ns() + HUNG_S * UINT64_C(1000000000);
    pid_t got = 0;
    while (got == 0 && trail_os_mono_ns() < until_ns) {
        got = waitpid(child, &status, WNOHANG);
        if (got == 0)
            nanosleep(&bit, NULL);
    }
    kill(-child, SIGKILL);
    if (got == child)
        return status;
    waitpid(child, &status, 0);
    return -1;
}

static void read_traces(struct died *died)
{
    DIR *directory = opendir(died->inbox);
    const struct dirent *entry;
    while (directory && (entry = readdir(directory)))
        if (strcmp(entry->d_name, ".") != 0 && strcmp(entry->d_name, "..") != 0) {
            died->trace_count++;
            snprintf(died->name, sizeof(died->name), "%.63s", entry->d_name);
        }
    if (directory)
        closedir(directory);
    if (!died->trace_count)
        return;
    struct trail_error err = { "" };
    char path[200];
    snprintf(path, sizeof(path), "inbox/%s", died->name);
    char *text = read_text(died, path);
    if (trail_trace_read(text, strlen(text), &died->trace, &err))
        print_error("%s: %s\n", died->name, err.text);
    else if (json_object_get(died->trace->raw, "complete"))
        keep_produced("trace", text, strlen(text));
    free(text);
}

void died_run(struct died *died, const char *way, void (*prepare)(struct died *died))
{
    pid_t child = fork();
    assert_true(child >= 0);
    if (child == 0)
        run_child(died, way, prepare);
    died->status = wait_for(child);
    died->out = read_text(died, "out");
    died->err = read_text(died, "err");
    read_traces(died);
}

void die(struct died *died, const char *way)
{
    died_begin(died);
    died_run(died, way, NULL);
}

void died_forget(struct died *died)
{
    char command[200];
    trail_trace_destroy(died->trace);
    free(died->out);
    free(died->err);
    pid_t child = fork();
    if (child == 0) {
        snprintf(command, sizeof(command), "%s", died->place);
        execlp("rm", "rm", "-rf", command, (char *)NULL);
        _exit(1);
    }
    waitpid(child, NULL, 0);
}

/* ---- looking into the trace ---------------------------------------------- */

static const char *text_of(const json_t *object, const char *key)
{
    const char *text = json_string_value(json_object_get(object, key));
    return text ? text : "";
}

const char *died_signal(const struct died *died, const char *key)
{
    return died->trace ? text_of(json_object_get(died->trace->raw, "signal"), key) : "";
}

int died_fault_at(const struct died *died)
{
    if (!died->trace || !died->trace->thread_count)
        return -1;
    const json_t *attributes = json_object_get(died->trace->raw, "attributes");
    const struct trail_thread *thread = &died->trace->threads[0];
    const uint64_t start = strtoull(text_of(attributes, "fault_start"), NULL, 16);
    const uint64_t end = strtoull(text_of(attributes, "fault_end"), NULL, 16);
    for (size_t i = 0; i < thread->pc_count && thread->crashed; i++)
        if (thread->pcs[i] >= start && thread->pcs[i] < end)
            return (int)i;
    return -1;
}

bool died_misses(const struct died *died, const char *what, const char *name)
{
    const json_t *missing =
        died->trace ? json_object_get(died->trace->raw, "missing") : NULL;
    for (size_t i = 0; i < json_array_size(missing); i++) {
        const json_t *row = json_array_get(missing, i);
        if (strcmp(text_of(row, "what"), what) == 0 &&
            (!name || strcmp(text_of(row, "name"), name) == 0))
            return true;
    }
    return false;
}
