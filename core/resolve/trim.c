/* trim.c -- which frames a short print leaves out, and by which rule. */
#include "core/resolve/trim.h"

/* A pattern matches a whole name, or, where it ends in *, the beginning of one. */
static bool matches(const char *name, const char *pattern)
{
    size_t size = strlen(pattern);
    if (size && pattern[size - 1] == '*')
        return strncmp(name, pattern, size - 1) == 0;
    return strcmp(name, pattern) == 0;
}

static bool matches_any(const char *name, const char *const *patterns)
{
    for (; *patterns; patterns++)
        if (matches(name, *patterns))
            return true;
    return false;
}

/* Raising and reporting an error: glibc, libstdc++, the C++ ABI, the compilers' checks,
 * and Rust's core and std. */
static const char *const panic_names[] = {
    "abort",
    "__GI_abort",
    "raise",
    "__GI_raise",
    "gsignal",
    "pthread_kill",
    "__pthread_kill",
    "__pthread_kill_implementation",
    "__pthread_kill_internal",
    "kill",
    "__assert",
    "__assert_fail",
    "__GI___assert_fail",
    "__assert_fail_base",
    "__assert_fail_base.cold",
    "__assert_perror_fail",
    "__libc_message",
    "__libc_fatal",
    "__fortify_fail",
    "__chk_fail",
    "__stack_chk_fail",
    "__restore_rt",
    "std::terminate*",
    "__cxxabiv1::*",
    "__gnu_cxx::__verbose_terminate_handler*",
    "__verbose_terminate_handler*",
    "__cxa_throw",
    "__cxa_rethrow",
    "__cxa_call_*",
    "__cxa_pure_virtual",
    "_Unwind_*",
    "__gxx_personality_v0",
    "std::__throw_*",
    "std::__glibcxx_assert_fail*",
    "std::__replacement_assert*",
    "std::unexpected*",
    "rust_begin_unwind",
    "__rustc::*", /* where newer Rust has all that follow */
    "rust_panic*",
    "__rust_start_panic",
    "__rust_abort",
    "core::panicking::*",
    "std::panicking::*",
    "std::rt::begin_panic*",
    "panic_abort::*",
    "std::sys_common::backtrace::*",
    "std::sys::backtrace::*",
    "std::process::abort*",
    "std::sys::unix::abort_internal*",
    "std::sys::pal::unix::abort_internal*",
    "alloc::alloc::handle_alloc_error*",
    NULL,
};

/* The runtime's own operators: what `v.at(9)` or `a[9]` calls. Only below a panic. */
static const char *const operator_prefixes[] = {
    "std::",    "__gnu_cxx::",  "core::",           "alloc::",      "<core::",
    "<alloc::", "<std::",       "<usize as core::", "<I as core::", "<[T] as core::",
    "<[T;",     "<T as core::", "<str as core::",   NULL,
};

static const char *const operator_parts[] = {
    "::at(",
    "::operator[]",
    "::operator*",
    "::operator->",
    "_M_range_check",
    "::value(",
    "::index",
    "::index_mut",
    "slice_index",
    "::unwrap",
    "::expect",
    "slice_error_fail",
    "::copy_from_slice",
    "::stoi",
    "::stol",
    "__stoa",
    "::substr(",
    "::front(",
    "::back(",
    "_M_check",
    "::get<",
    "::any_cast",
    "::_M_",
    "::len_mismatch_fail",
    NULL,
};

static bool is_operator(const char *name)
{
    bool runtime = false;
    for (const char *const *prefix = operator_prefixes; *prefix && !runtime; prefix++)
        runtime = strncmp(name, *prefix, strlen(*prefix)) == 0;
    /* A demangled template function begins with its return type. */
    const char *space = runtime ? NULL : strstr(name, " std::");
    if (!runtime && !space)
        return false;
    for (const char *const *part = operator_parts; *part; part++)
        if (strstr(name, *part))
            return true;
    return false;
}

const char *trail_trim_top_rule(const char *function, bool panic_above)
{
    if (matches_any(function, panic_names))
        return "panic";
    return panic_above && is_operator(function) ? "operator" : NULL;
}

static const char *const below_names[] = {
    "_start",
    "__libc_start_main*",
    "__GI___libc_start_main",
    "__libc_start_call_main*",
    "generic_start_main*",
    "_dl_start*",
    "_dl_relocate_static_pie*",
    "start_thread",
    "execute_native_thread_routine",
    "clone",
    "clone3",
    "__clone*",
    "__GI___clone*",
    "thread_start",
    "__restore_rt",
    "std::rt::lang_start*",
    "std::sys_common::backtrace::__rust_begin_short_backtrace*",
    "std::sys::backtrace::__rust_begin_short_backtrace*",
    "__rust_begin_short_backtrace*",
    "std::sys::unix::thread::Thread::new::thread_start*",
    "std::sys::pal::unix::thread::Thread::new::thread_start*",
    NULL,
};

bool trail_trim_is_own(const struct trail_thread *thread, uint64_t address)
{
    for (size_t i = 0; i < thread->own_count; i++)
        if (address >= thread->own[i].start && address < thread->own[i].end)
            return true;
    return false;
}

/* The runtime's libraries, whose inner functions have no name once stripped. */
static bool in_runtime(const char *module)
{
    static const char *const names[] = { "libc.so*", "libc-*",     "libpthread*",
                                         "ld-*",     "ld.so*",     "libstdc++.so*",
                                         "libc++*",  "libgcc_s.*", NULL };
    const char *slash = strrchr(module, '/');
    return matches_any(slash ? slash + 1 : module, names);
}

/* Unnamed code of the runtime goes with the named function that called it, be it by way
 * of what the capture library put in between. */
static const char *rule_of_caller(const struct trail_resolved_thread *thread, size_t at,
                                  bool panic_above)
{
    for (; at < thread->frame_count; at++) {
        const struct trail_frame *frame = &thread->frames[at].frame;
        if (trail_trim_is_own(thread->thread, frame->address))
            continue;
        if (frame->function[0])
            return trail_trim_top_rule(frame->function, panic_above);
        if (!in_runtime(frame->module))
            return NULL;
    }
    return NULL;
}

/* From the innermost frame outward, until the first that no rule knows. */
static void trim_top(struct trail_resolved_thread *thread)
{
    bool panic = false;
    for (size_t i = 0; i < thread->frame_count; i++) {
        struct trail_frame *frame = &thread->frames[i].frame;
        const char *rule = trail_trim_is_own(thread->thread, frame->address)
                               ? "capture"
                               : rule_of_caller(thread, i, panic);
        if (!rule)
            return;
        panic = panic || strcmp(rule, "panic") == 0;
        frame->hidden = rule;
    }
}

static bool is_below(const struct trail_frame *frame)
{
    return matches_any(frame->function, below_names) ||
           (!frame->function[0] && in_runtime(frame->module));
}

/* The program's own _start has no name once stripped, but nothing else that is
 * outermost calls the runtime's startup code. */
static bool is_start_stripped(const struct trail_resolved_thread *thread)
{
    size_t count = thread->frame_count;
    return count > 1 && !thread->thread->truncated &&
           !thread->frames[count - 1].frame.function[0] &&
           is_below(&thread->frames[count - 2].frame);
}

/* How many frames are above the bottom: all up to main if there is one, since whatever
 * called main is none of the program's; else all but the run of startup code at the
 * end. */
static size_t shown_count(const struct trail_resolved_thread *thread)
{
    size_t count = thread->frame_count;
    for (size_t i = count; i-- > 0;)
        if (strcmp(thread->frames[i].frame.function, "main") == 0)
            return i + 1;
    if (is_start_stripped(thread))
        count--;
    while (count > 0 && is_below(&thread->frames[count - 1].frame))
        count--;
    return count;
}

static void trim_bottom(struct trail_resolved_thread *thread)
{
    size_t rust = thread->frame_count, end = shown_count(thread);
    for (size_t i = 0; i < thread->frame_count; i++)
        if (strstr(thread->frames[i].frame.function, "__rust_begin_short_backtrace") &&
            i < rust)
            rust = i; /* Rust's mark: below it is the runtime, a C main among it */
    if (rust < end)
        end = rust;
    for (size_t i = end; i < thread->frame_count; i++)
        if (!thread->frames[i].frame.hidden[0])
            thread->frames[i].frame.hidden = "below-main";
}

void trail_trim(struct trail_resolved_thread *thread)
{
    trim_top(thread);
    trim_bottom(thread);
}
