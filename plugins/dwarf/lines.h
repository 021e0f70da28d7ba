/* lines.h -- line number programs, versions 2 to 5 (DWARF 5, 6.2). */
#ifndef DWARF_LINES_H
#define DWARF_LINES_H

#include "reader.h"

/* Read the header of the unit in hand into worker->line. Without a usable one it has no
 * lines. False: out of memory or of work. */
bool lines_read_header(struct worker *worker);

/* Run the program and keep the rows of live sequences that the unit in hand owns, in
 * worker->rows and worker->sequences. False: out of memory or of work. */
bool lines_read_rows(struct worker *worker);

/* Run the program, keep nothing, and answer the queries. */
bool lines_answer(struct worker *worker, const struct filter *filter);

/* The number among the results of file `index` of the unit's table; 0: none. */
uint32_t lines_file_slowly(struct worker *worker, uint64_t index);
static inline uint32_t lines_file(struct worker *worker, uint64_t index)
{
    if (UNLIKELY(index >= worker->line.numbers.count))
        return 0;
    uint32_t number = worker->line.numbers.at[index];
    return LIKELY(number) ? number : lines_file_slowly(worker, index);
}

static inline uint64_t lines_location(struct worker *worker, uint64_t file,
                                      uint64_t line, uint64_t column)
{
    return origin_location(lines_file(worker, file), (uint32_t)line,
                           column > UINT16_MAX ? 0 : (uint32_t)column);
}

#endif
