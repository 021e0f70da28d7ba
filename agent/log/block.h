/* block.h -- from reads of any size to whole lines: what of a line has not come yet is
 * kept, up to a limit. The output is the same wherever the reads were cut.
 */
#ifndef TRAIL_AGENT_LOG_BLOCK_H
#define TRAIL_AGENT_LOG_BLOCK_H

#include "agent/log/filter.h"

#define LOG_BLOCK_SIZE ((size_t)1 << 20)

struct log_block {
    struct log_filter *filter;
    size_t size;  /* bytes of a line that has not ended */
    bool passing; /* the rest of this line goes out as it is */
    char bytes[LOG_LINE_LIMIT + 4096 + LOG_BLOCK_SIZE];
};

/* Where the next bytes go; there is always room for LOG_BLOCK_SIZE. */
char *log_block_room(struct log_block *block);
/* `size` bytes were put there: whole lines are written. */
enum trail_status log_block_added(struct log_block *block, size_t size);
/* The input pauses: write what there is of a line, and its rest as it is. */
enum trail_status log_block_idle(struct log_block *block);
enum trail_status log_block_end(struct log_block *block);

#endif
