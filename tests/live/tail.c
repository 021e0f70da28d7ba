/* tail.c -- a function that ends in a tail call is not on the stack. Writes its stack
 * as a raw trace, or, with an argument, lists its frames. With TWO_WAYS two may have
 * been called; without tail calls (-fno-optimize-sibling-calls) nothing is missing. */
#include "show.h"

struct buffer {
    int size, kind;
};

struct request {
    struct buffer payload;
    int hash;
};

static struct trail_backtrace backtrace;
static volatile int done;

OUT_OF_LINE static int ComputeHash(const struct buffer *buffer)
{
    trail_capture(&backtrace);
    done = buffer->size;
    return done * 31;
}

#ifdef TWO_WAYS
OUT_OF_LINE static int Sample(const struct buffer *buffer)
{
    done = buffer->kind;
    return ComputeHash(buffer);
}
#endif

OUT_OF_LINE static int Validate(const struct buffer *buffer)
{
    if (buffer->size == 0)
        return 0;
#ifdef TWO_WAYS
    if (buffer->kind == 2)
        return Sample(buffer);
#endif
    return ComputeHash(buffer);
}

OUT_OF_LINE static void HandleRequest(struct request *request)
{
    request->hash = Validate(&request->payload);
    done = request->hash;
}

OUT_OF_LINE static void RequestLoop(struct request *requests, int count)
{
    for (int i = 0; i < count; i++)
        HandleRequest(&requests[i]);
    done = 0;
}

/* What a program gets are the frames of the stack alone. */
static void list(void)
{
    struct trail_frames *frames = NULL;
    if (trail_resolve(&backtrace, 0, &frames, NULL))
        exit(1);
    for (size_t i = 0; i < frames->count; i++)
        printf("%s: %s\n", frames->at[i].function,
               frames->at[i].tail_gap ? "tail gap" : "return");
    trail_frames_destroy(frames);
}

int main(int argc, char **argv)
{
    struct request request = { { argc, argc }, 0 };
    (void)argv;
    RequestLoop(&request, 1);
    if (argc > 1)
        list();
    else
        show_raw(&backtrace, "tail");
    return 0;
}
