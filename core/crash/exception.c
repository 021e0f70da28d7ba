/* exception.c -- what std::terminate was called for, in words.
 *
 * The C++ library is looked up, not linked: the capture library needs libc only.
 * What is used of it is fixed by the Itanium C++ ABI; how a type is matched is
 * libstdc++'s own and has been the same since GCC 3, so what() is asked for with
 * libstdc++ alone. All of it runs where std::terminate was called, not in a signal
 * handler. */
#include "core/crash/exception.h"

#include <stdalign.h>
#include <stdbool.h>
#include <stdlib.h>

#include "backtrail/crash.h"
#include "core/os/os.h"

#define MESSAGE_SIZE 1024

typedef void handler_fn(void);

/* std::type_info as far as everybody has it. */
struct type {
    const void *const *methods;
    const char *name;
};

/* What stands before a thrown object of libstdc++: the ABI's __cxa_exception. */
struct thrown {
    void *type, *destructor, *unexpected, *terminate;
    struct thrown *next;
    int handlers, handler_value;
    const void *action, *data;
    void *landing, *adjusted;
    alignas(16) uint64_t unwind_class;
    void *unwind_cleanup;
    uint64_t unwind_private[2];
};

static struct {
    handler_fn *(*set)(handler_fn *handler);
    struct type *(*current)(void);
    struct thrown **(*globals)(void); /* the first member is what was caught last */
    char *(*demangle)(const char *name, char *to, size_t *size, int *status);
    struct type *base; /* of std::exception; NULL: another C++ library's */
    handler_fn *before;
} cxx;

/* Of the method tables: after two destructors come is_pointer, is_function, do_catch;
 * in std::exception's, what. */
enum { METHOD_DO_CATCH = 4, METHOD_WHAT = 2 };

/* dlsym gives objects; a function is read out of one. */
static void look_up(const char *name, void *function_ret)
{
    void *at = trail_os_library_symbol(NULL, name);
    memcpy(function_ret, &at, sizeof(at));
}

/* What the exception says of itself; NULL: it is no std::exception, or not at hand. */
static const char *ask_what(const struct type *type)
{
    static const char classes[] = "GNUCC++"; /* of its own; from its low byte up */
    bool (*do_catch)(const struct type *base, const struct type *type, void **object,
                     unsigned outer);
    const char *(*what)(const void *object);
    struct thrown **globals = cxx.base && cxx.globals ? cxx.globals() : NULL;
    if (!globals || !*globals)
        return NULL;
    uint64_t class = (*globals)->unwind_class;
    for (size_t i = 0; i < sizeof(classes) - 1; i++)
        if ((char)(class >> (56 - 8 * i)) != classes[i])
            return NULL;
    if (class & 0xff)
        return NULL; /* one thrown again from elsewhere is laid out differently */
    void *object = *globals + 1;
    memcpy(&do_catch, &cxx.base->methods[METHOD_DO_CATCH], sizeof(do_catch));
    if (!do_catch(cxx.base, type, &object, 1))
        return NULL;
    const void *const *methods = *(const void *const *const *)object;
    memcpy(&what, &methods[METHOD_WHAT], sizeof(what));
    return what(object);
}

static void say(const struct type *type)
{
    char message[MESSAGE_SIZE];
    int status = -1;
    char *name = cxx.demangle ? cxx.demangle(type->name, NULL, NULL, &status) : NULL;
    const char *what = ask_what(type);
    snprintf(message, sizeof(message), "uncaught %s%s%s", name ? name : type->name,
             what ? ": " : "", what ? what : "");
    free(name);
    trail_crash_message_set(message);
}

TRAIL_OWN_CODE static void on_terminate(void)
{
    const struct type *type = cxx.current ? cxx.current() : NULL;
    if (type)
        say(type);
    else
        trail_crash_message_set("std::terminate was called without an exception");
    if (cxx.before && cxx.before != on_terminate)
        cxx.before();
    abort();
}

void trail_exception_init(void)
{
    if (cxx.before)
        return;
    look_up("_ZSt13set_terminatePFvvE", &cxx.set);
    look_up("__cxa_current_exception_type", &cxx.current);
    look_up("__cxa_get_globals", &cxx.globals);
    look_up("__cxa_demangle", &cxx.demangle);
    if (trail_os_library_symbol(NULL, "_ZN9__gnu_cxx27__verbose_terminate_handlerEv"))
        cxx.base = trail_os_library_symbol(NULL, "_ZTISt9exception");
    if (cxx.set)
        cxx.before = cxx.set(on_terminate);
}

void trail_exception_deinit(void)
{
    if (!cxx.before)
        return;
    handler_fn *now = cxx.set(cxx.before);
    if (now != on_terminate)
        cxx.set(now);
    cxx.before = NULL;
}
