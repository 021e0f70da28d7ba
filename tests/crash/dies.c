/* dies.c -- a program that dies as it is told: dies WAY INBOX. */
#define _GNU_SOURCE

#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "backtrail/crash.h"
#include "ways.h"

/* With a sanitizer in the program: it leaves these signals alone. */
__attribute__((visibility("default"))) const char *__asan_default_options(void);
const char *__asan_default_options(void)
{
    return "handle_segv=0:handle_sigbus=0:handle_abort=0:handle_sigill=0:handle_sigfpe="
           "0:"
           "handle_sigtrap=0:use_sigaltstack=0:detect_leaks=0:allocator_may_return_"
           "null=1";
}

static void earlier(int number)
{
    static const char text[] = "the earlier handler was called\n";
    if (write(1, text, sizeof(text) - 1) < 0)
        _exit(3);
    signal(number, SIG_DFL);
    raise(number);
}

static void (*find(const struct way *ways, const char *name))(void)
{
    for (; ways->name; ways++)
        if (strcmp(ways->name, name) == 0)
            return ways->die;
    return NULL;
}

/* Where the first frame has to lie. */
static void tell_place(void)
{
    char text[40];
    snprintf(text, sizeof(text), "0x%" PRIxPTR, (uintptr_t)__start_faults);
    trail_attribute_set("fault_start", text);
    snprintf(text, sizeof(text), "0x%" PRIxPTR, (uintptr_t)__stop_faults);
    trail_attribute_set("fault_end", text);
}

/* What must be so before the handlers are installed. */
static void prepare(const char *way)
{
    sigset_t faults;
    if (strcmp(way, "with_faults_blocked") == 0) {
        sigemptyset(&faults);
        sigaddset(&faults, SIGSEGV);
        sigprocmask(SIG_BLOCK, &faults, NULL);
    }
    if (strcmp(way, "with_earlier_handler") == 0)
        signal(SIGSEGV, earlier);
}

static uint32_t number_of(const char *variable)
{
    const char *text = getenv(variable);
    return text ? (uint32_t)strtoul(text, NULL, 0) : 0;
}

int main(int argc, char **argv)
{
    struct trail_error err = { "" };
    struct trail_crash_options options = { .size = sizeof(options),
                                           .app_name = "dies",
                                           .app_version = "1.2",
                                           .free_size = 1 };
    void (*die)(void) = argc == 3 ? find(plain_ways, argv[1]) : NULL;
    if (argc == 3 && !die)
        die = find(hard_ways, argv[1]);
    if (!die) {
        fprintf(stderr, "usage: dies WAY INBOX\n");
        return 2;
    }
    options.inbox = argv[2];
    options.flags = number_of("DIES_FLAGS");
    options.deadline_ms = number_of("DIES_DEADLINE_MS");
    prepare(argv[1]);
    if (trail_crash_install(&options, &err))
        fprintf(stderr, "dies: %s\n", err.text);
    tell_place();
    trail_breadcrumb("about to die");
    die();
    return 0;
}
