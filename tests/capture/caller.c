/* caller.c -- a library whose frames have a size of their own. */
void caller_call(void (*body)(void *arg), void *arg);

__attribute__((noinline)) static void call(void (*body)(void *arg), void *arg)
{
    volatile char room[FRAME];
    room[0] = room[FRAME - 1] = 1;
    body(arg);
    room[0] = (char)(room[FRAME - 1] + 1);
}

__attribute__((visibility("default"))) void caller_call(void (*body)(void *arg),
                                                        void *arg)
{
    volatile char room[FRAME / 2];
    room[0] = room[FRAME / 2 - 1] = 1;
    call(body, arg);
    room[0] = (char)(room[FRAME / 2 - 1] + 1);
}
