/* gdb.c -- what gdb says of a stack. */
#define _POSIX_C_SOURCE 200809L

#include "gdb.h"

#include <sys/wait.h>
#include <unistd.h>

#include "test.h"

static void run_gdb(const char *program, const char *what, int to)
{
    const char *const arguments[] = {
        "gdb",
        "-nx",
        "-batch",
        "-iex",
        "set debuginfod enabled off",
        "-iex",
        "set auto-load off",
        "-ex",
        "set backtrace past-main on",
        "-ex",
        "set backtrace past-entry on",
        "-ex",
        "frame apply all -q printf \"PC %#lx %#lx\\n\", $pc, $sp",
        program,
        what,
        NULL
    };
    dup2(to, 1);
    dup2(to, 2);
    execvp(arguments[0], (char *const *)(uintptr_t)arguments);
    _exit(127);
}

/* Inlined calls and tail calls are frames to gdb, before the one that is on the stack,
 * whose stack pointer they have. */
static unsigned read_numbers(FILE *from, uint64_t *pcs, unsigned capacity)
{
    char line[512];
    unsigned count = 0;
    uint64_t last_sp = 0;
    while (fgets(line, sizeof(line), from)) {
        char *end = NULL;
        if (strncmp(line, "PC ", 3) != 0 || count == capacity)
            continue;
        uint64_t pc = strtoull(line + 3, &end, 16), sp = strtoull(end, NULL, 16);
        if (count && sp == last_sp)
            count--;
        pcs[count++] = pc;
        last_sp = sp;
    }
    return count;
}

unsigned gdb_pcs(const char *program, const char *what, uint64_t *pcs,
                 unsigned capacity)
{
    int pipes[2], status = 0;
    assert_int_equal(pipe(pipes), 0);
    pid_t gdb = fork();
    if (gdb == 0)
        run_gdb(program, what, pipes[1]);
    close(pipes[1]);
    FILE *from = fdopen(pipes[0], "r");
    assert_non_null(from);
    unsigned count = read_numbers(from, pcs, capacity);
    fclose(from);
    assert_int_equal(waitpid(gdb, &status, 0), gdb);
    if (WIFEXITED(status) && WEXITSTATUS(status) == 127)
        skip(); /* no gdb is installed */
    assert_true(count > 0);
    return count;
}
