/* argument.h -- what the shown name of an argument says: what it can be, and whether it
 * can be left out. options.h has the rules.
 */
#ifndef TRAIL_AGENT_ARGUMENT_H
#define TRAIL_AGENT_ARGUMENT_H

#include <stdbool.h>
#include <stddef.h>

enum argument_kind {
    ARGUMENT_OTHER,
    ARGUMENT_FILE,
    ARGUMENT_DIRECTORY,
    ARGUMENT_VERB,
    ARGUMENT_WORDS,
};

enum argument_kind argument_kind(const char *argument);
bool argument_optional(const char *argument); /* NULL: false */

#define ARGUMENT_WORD_LIMIT 16
#define ARGUMENT_WORD_SIZE  32
/* The words of an ARGUMENT_WORDS one, or none. */
struct argument_words {
    char text[ARGUMENT_WORD_LIMIT][ARGUMENT_WORD_SIZE];
    const char *list[ARGUMENT_WORD_LIMIT + 1]; /* into text; NULL-terminated */
    size_t count;
};
void argument_words(const char *argument, struct argument_words *words_ret);

#endif
