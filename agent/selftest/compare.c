/* compare.c -- whether an answer is what a sample says it is. */
#include "agent/selftest/compare.h"

#define NAME_SIZE 512

static const char *base_name(const char *path)
{
    const char *slash = strrchr(path, '/');
    return slash ? slash + 1 : path;
}

static const char *name_of(const struct trail_named *frame)
{
    return frame->linkage[0] ? frame->linkage : frame->function;
}

/* Whether the `size` bytes at `found` are `wanted`, but for scopes before it. */
static bool is_name(const char *found, size_t size, const char *wanted)
{
    size_t length = strlen(wanted);
    if (size < length || memcmp(found + size - length, wanted, length) != 0)
        return false;
    return size == length ||
           (size >= length + 2 && memcmp(found + size - length - 2, "::", 2) == 0);
}

/* With the suffix of a copy, or without. */
static bool is_function(const char *found, const char *wanted)
{
    size_t size = strlen(found);
    const char *dot = strchr(found, '.');
    return is_name(found, size, wanted) ||
           (dot && is_name(found, (size_t)(dot - found), wanted));
}

/* Folded functions have one name in the answer, and the others beside it. */
static bool is_known_as(const char *names, const char *wanted)
{
    while (*names) {
        size_t size = strcspn(names, "\n");
        if (is_name(names, size, wanted))
            return true;
        names += size + (names[size] == '\n');
    }
    return false;
}

static void place_of(const struct trail_named *frame, char *text_ret, size_t size)
{
    snprintf(text_ret, size, "%s:%u:%u", frame->file[0] ? base_name(frame->file) : "?",
             frame->line, frame->column);
}

/* `wanted` is one element of a chain, "function@file:line:column". */
static bool is_frame(const struct trail_named *frame, const char *wanted, size_t size)
{
    char text[NAME_SIZE], place[NAME_SIZE];
    if (size >= sizeof(text))
        return false;
    memcpy(text, wanted, size);
    text[size] = 0;
    char *at = strrchr(text, '@');
    if (!at)
        return false;
    *at = 0;
    place_of(frame, place, sizeof(place));
    return strcmp(place, at + 1) == 0 &&
           (is_function(name_of(frame), text) || is_known_as(frame->aka, text));
}

bool compare_chain(const struct trail_answer *answer, const char *chain)
{
    uint32_t count = 0;
    if (strcmp(chain, "-") == 0)
        return strcmp(compare_found(answer), "nothing") == 0;
    while (*chain) {
        size_t size = strcspn(chain, " ");
        if (count == answer->frame_count ||
            !is_frame(&answer->frames[count], chain, size))
            return false;
        count++;
        chain += size + (chain[size] == ' ');
    }
    return count == answer->frame_count;
}

const char *compare_found(const struct trail_answer *answer)
{
    const char *found = "nothing";
    for (uint32_t i = 0; i < answer->frame_count; i++) {
        if (answer->frames[i].line)
            return "lines";
        if (answer->frames[i].function[0])
            found = "names";
    }
    return found;
}

void compare_print(const struct trail_answer *answer, char *text_ret, size_t size)
{
    char place[NAME_SIZE];
    size_t used = 0;
    snprintf(text_ret, size, "-");
    for (uint32_t i = 0; i < answer->frame_count && used < size; i++) {
        const struct trail_named *frame = &answer->frames[i];
        place_of(frame, place, sizeof(place));
        used += (size_t)snprintf(text_ret + used, size - used, "%s%s@%s", i ? " " : "",
                                 name_of(frame), place);
    }
}
