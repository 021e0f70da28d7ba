/* noreturn.c -- a call that does not return, at the end of its function: the address it
 * would return to is that of the next function. Built without reordering or padding. */
#include "show.h"

OUT_OF_LINE static void next(void);

__attribute__((noreturn)) OUT_OF_LINE static void stop(int code)
{
    struct trail_backtrace backtrace = { 0 };
    struct trail_frames *frames = NULL;
    trail_capture(&backtrace);
    if (trail_resolve(&backtrace, 0, &frames, NULL))
        exit(1);
    const struct trail_frame *frame = &frames->at[1];
    printf("function: %s\n", frame->function);
    printf("as captured: %s\n",
           yes_no(frame->address == backtrace.addresses[frame->index]));
    printf("start of the next function: %s\n",
           yes_no(frame->address == (uintptr_t)next));
    trail_frames_destroy(frames);
    exit(code);
}

OUT_OF_LINE static void a(void)
{
    stop(0);
}

OUT_OF_LINE static void next(void)
{
    puts("next");
}

int main(int argc, char **argv)
{
    void (*volatile call)(void) = argc > 1 ? next : a;
    (void)argv;
    call();
    return 1;
}
