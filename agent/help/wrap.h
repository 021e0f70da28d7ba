/* wrap.h -- text in paragraphs and columns. */
#ifndef TRAIL_AGENT_WRAP_H
#define TRAIL_AGENT_WRAP_H

#include <stdbool.h>
#include <stddef.h>

/* Print `size` bytes of text, words wrapped so that no line is wider than `width`; the
 * first line goes on at column `at`, the others begin at `indent`. Ends the line. */
void wrap_print(const char *text, size_t size, size_t at, size_t indent, size_t width);

/* The next paragraph of *text, which moves on: *size_ret bytes at *start_ret, with line
 * breaks in them. *literal_ret: its lines begin with a space and stay as they are.
 * False: there is no more. */
bool wrap_paragraph(const char **text, const char **start_ret, size_t *size_ret,
                    bool *literal_ret);

#endif
