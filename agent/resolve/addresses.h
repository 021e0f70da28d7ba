/* addresses.h -- addresses as people and scripts write them. */
#ifndef TRAIL_AGENT_ADDRESSES_H
#define TRAIL_AGENT_ADDRESSES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

/* Hexadecimal, with or without 0x, and nothing else but blanks around it. */
bool address_parse(const char *text, uint64_t *address_ret);

/* As addr2line reads it: what is no number is 0, what follows a number is left alone,
 * and what is too large is the largest address there is. After a plus sign it takes a
 * number as C writes it, if the file has 32 bits. */
uint64_t address_parse_anyhow(const char *text, bool is32);

/* Where addresses come from, one a line. Zero it to start, set `stream`. */
struct address_input {
    FILE *stream;
    bool is32;   /* the file has addresses of 32 bits */
    bool anyhow; /* take lines as addr2line does, also by pieces of 99 bytes */
    char *line;
    size_t room, number; /* number of the line, from 1 */
    uint64_t size;       /* bytes read so far */
};

enum address_next {
    ADDRESS_END,
    ADDRESS_GOOD,
    ADDRESS_WRONG, /* the line holds none: see input->line */
};

/* Empty lines are left out, unless `anyhow`: 0 there, as addr2line has it. */
enum address_next address_next(struct address_input *input, uint64_t *address_ret);
void address_input_deinit(struct address_input *input);

#endif
