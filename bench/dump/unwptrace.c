/* unwptrace.c -- the stacks of a process by libunwind-ptrace: all threads stopped, then
 * walked, then let go. As a peer it does no more than it must: no name is looked up.
 *
 * usage: unwptrace PID
 */
#define _GNU_SOURCE

#include <dirent.h>
#include <libunwind-ptrace.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/ptrace.h>
#include <sys/wait.h>

#define THREADS 4096

static size_t list(const char *pid, pid_t *tids)
{
    char path[64];
    size_t count = 0;
    const struct dirent *entry;
    snprintf(path, sizeof(path), "/proc/%s/task", pid);
    DIR *tasks = opendir(path);
    while (tasks && count < THREADS && (entry = readdir(tasks)))
        if (entry->d_name[0] != '.')
            tids[count++] = (pid_t)strtol(entry->d_name, NULL, 10);
    if (tasks)
        closedir(tasks);
    return count;
}

static unsigned long walk(unw_addr_space_t space, pid_t tid)
{
    unw_cursor_t cursor;
    unsigned long frames = 0;
    void *thread = _UPT_create(tid);
    if (thread && unw_init_remote(&cursor, space, thread) == 0)
        do {
            unw_word_t pc;
            unw_get_reg(&cursor, UNW_REG_IP, &pc);
            frames++;
        } while (unw_step(&cursor) > 0);
    _UPT_destroy(thread);
    return frames;
}

int main(int argc, char **argv)
{
    static pid_t tids[THREADS];
    unsigned long frames = 0;
    int status;
    size_t count = argc == 2 ? list(argv[1], tids) : 0;
    unw_addr_space_t space = unw_create_addr_space(&_UPT_accessors, 0);
    unw_set_caching_policy(space, UNW_CACHE_GLOBAL);
    for (size_t i = 0; i < count; i++)
        ptrace(PTRACE_SEIZE, tids[i], NULL, NULL);
    for (size_t i = 0; i < count; i++)
        ptrace(PTRACE_INTERRUPT, tids[i], NULL, NULL);
    for (size_t i = 0; i < count; i++)
        waitpid(tids[i], &status, __WALL);
    for (size_t i = 0; i < count; i++)
        frames += walk(space, tids[i]);
    for (size_t i = 0; i < count; i++)
        ptrace(PTRACE_DETACH, tids[i], NULL, NULL);
    printf("%zu threads, %lu frames\n", count, frames);
    return frames <= count;
}
