/* forks.c -- reports, forks with the report on its way, and reports in both. */
#define _POSIX_C_SOURCE 200809L

#include "show.h"

#include <sys/wait.h>
#include <unistd.h>

static void report(const char *who)
{
    char message[64];
    struct trail_error err;
    snprintf(message, sizeof(message), "%s %ld", who, (long)getpid());
    if (trail_report(TRAIL_WARNING, message, NULL, 0, &err))
        fprintf(stderr, "report: %s\n", err.text);
}

int main(void)
{
    start();
    report("before");
    pid_t child = fork();
    if (child == 0) {
        report("child");
        trail_shutdown();
        _exit(0);
    }
    int status = 1;
    waitpid(child, &status, 0);
    report("after");
    trail_shutdown();
    return WIFEXITED(status) ? WEXITSTATUS(status) : 1;
}
