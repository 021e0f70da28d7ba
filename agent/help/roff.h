/* roff.h -- text as man(7) source: what has a meaning there is escaped. */
#ifndef TRAIL_AGENT_ROFF_H
#define TRAIL_AGENT_ROFF_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

/* `size` bytes of running text, lines of its own, broken between words. */
void roff_text(FILE *to, const char *text, size_t size);
/* A sentence: with a capital and a full stop. */
void roff_sentence(FILE *to, const char *text);
/* Within a line. One font for the whole text: 'R', 'B' or 'I'. */
void roff_font(FILE *to, char font, const char *text);
/* Words in capitals are what the reader puts in, the rest is typed as it stands. */
void roff_synopsis(FILE *to, const char *text);

/* The first line of a page, "backtrail-resolve"; the heading of a section. */
void roff_title(FILE *to, const char *page, int section);
void roff_section(FILE *to, const char *title);
void roff_subsection(FILE *to, const char *title); /* with a capital */
/* The start of a line of a list whose terms are long: explanations stand below them. */
void roff_tag_long(FILE *to);
/* A line of a list whose term is typed: bold. */
void roff_line(FILE *to, const char *term, const char *text);
/* Paragraphs as options.h has them; `first`: nothing is above them in their section. */
void roff_paragraphs(FILE *to, const char *text, bool first);

#endif
