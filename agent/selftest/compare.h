/* compare.h -- whether an answer is what a sample says it is. */
#ifndef TRAIL_AGENT_COMPARE_H
#define TRAIL_AGENT_COMPARE_H

#include "core/resolve/resolver.h"

/* Whether an answer is the chain of a sample (struct sample). Names are compared as
 * they are in the file, without the suffixes of a compiler's copies ("f.cold") and the
 * scopes in front of one that is not mangled; files without their directories. */
bool compare_chain(const struct trail_answer *answer, const char *chain);

/* What there is to see in an answer: "lines", "names" or "nothing". */
const char *compare_found(const struct trail_answer *answer);

/* The answer in the words of a chain, cut to fit. */
void compare_print(const struct trail_answer *answer, char *text_ret, size_t size);

#endif
