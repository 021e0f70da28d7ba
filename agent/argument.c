/* argument.c -- what the shown name of an argument says. */
#include "agent/argument.h"

#include <stdio.h>
#include <string.h>

bool argument_optional(const char *argument)
{
    return argument && argument[0] == '[';
}

static bool lower_word(const char *argument)
{
    size_t size = strspn(argument, "[abcdefghijklmnopqrstuvwxyz0123456789-|]");
    return size > 0 && argument[size] == 0;
}

enum argument_kind argument_kind(const char *argument)
{
    static const char *const files[] = { "FILE", "TRACE", "LOG", ".json" };
    if (!argument)
        return ARGUMENT_OTHER;
    if (strchr(argument, '|') && lower_word(argument))
        return ARGUMENT_WORDS;
    if (strstr(argument, "VERB"))
        return ARGUMENT_VERB;
    for (size_t i = 0; i < sizeof(files) / sizeof(files[0]); i++)
        if (strstr(argument, files[i]))
            return ARGUMENT_FILE;
    return strstr(argument, "DIR") ? ARGUMENT_DIRECTORY : ARGUMENT_OTHER;
}

void argument_words(const char *argument, struct argument_words *words_ret)
{
    *words_ret = (struct argument_words){ .count = 0 };
    if (argument_kind(argument) != ARGUMENT_WORDS)
        return;
    while (*argument && words_ret->count < ARGUMENT_WORD_LIMIT) {
        argument += strspn(argument, "[]|");
        size_t size = strcspn(argument, "[]|");
        if (size == 0 || size >= ARGUMENT_WORD_SIZE)
            break;
        char *word = words_ret->text[words_ret->count];
        snprintf(word, ARGUMENT_WORD_SIZE, "%.*s", (int)size, argument);
        words_ret->list[words_ret->count++] = word;
        argument += size;
    }
}
