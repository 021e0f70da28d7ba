/* show.h -- what the tests of text for terminals share: stacks made from a drawing. */
#ifndef TRAIL_TEST_SHOW_H
#define TRAIL_TEST_SHOW_H

#include "made.h"

/* Add a frame a letter: capital letters are functions of the program, small ones of
 * libfoo.so, digits of libc.so.6, '?' is code of libfoo.so without a name. Equal
 * letters are equal calls. */
void show_stack(struct made *made, const char *letters);
/* The report's lines after "backtrace:" are exactly these. */
void assert_shown(const struct made *made, const struct trail_text_style *style,
                  const char *want);

#endif
