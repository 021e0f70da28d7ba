/* block.c -- from reads of any size to whole lines. */
#define _GNU_SOURCE

#include "agent/log/block.h"

char *log_block_room(struct log_block *block)
{
    return block->bytes + block->size;
}

/* The rest of a line that has been begun as it is. Returns where the next begins. */
static size_t pass_rest(struct log_block *block)
{
    if (!block->passing)
        return 0;
    const char *newline = memchr(block->bytes, '\n', block->size);
    size_t rest = newline ? (size_t)(newline - block->bytes) + 1 : block->size;
    log_filter_pass(block->filter, (struct trail_text){ block->bytes, rest });
    block->passing = !newline;
    return rest;
}

enum trail_status log_block_added(struct log_block *block, size_t size)
{
    block->size += size;
    size_t at = pass_rest(block);
    const char *newline = memrchr(block->bytes + at, '\n', block->size - at);
    size_t whole = newline ? (size_t)(newline - block->bytes) + 1 : at;
    log_filter_lines(block->filter,
                     (struct trail_text){ block->bytes + at, whole - at });
    size_t left = block->size - whole;
    /* One byte more may be the first of the two that end it. */
    if (left > LOG_LINE_LIMIT + 1) {
        log_filter_pass(block->filter,
                        (struct trail_text){ block->bytes + whole, left });
        block->passing = true;
        left = 0;
    }
    enum trail_status status = log_out_flush(&block->filter->out);
    memmove(block->bytes, block->bytes + whole, left);
    block->size = left;
    return status;
}

enum trail_status log_block_idle(struct log_block *block)
{
    if (block->size == 0)
        return TRAIL_OK;
    log_filter_pass(block->filter, (struct trail_text){ block->bytes, block->size });
    block->passing = true;
    block->size = 0;
    return log_out_flush(&block->filter->out);
}

enum trail_status log_block_end(struct log_block *block)
{
    struct trail_text rest = { block->bytes, block->size };
    if (block->passing)
        log_filter_pass(block->filter, rest);
    else
        log_filter_lines(block->filter, rest);
    block->size = 0;
    log_filter_end(block->filter);
    return log_out_flush(&block->filter->out);
}
