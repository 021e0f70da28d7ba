/* addresses.c -- addresses as people and scripts write them. */
#include "agent/resolve/addresses.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "agent/lines.h"

/* addr2line reads into so many bytes; the rest of a longer line is another line. */
#define PIECE_SIZE 100

bool address_parse(const char *text, uint64_t *address_ret)
{
    char *end = NULL;
    while (*text == ' ' || *text == '\t')
        text++;
    if (!strchr("0123456789abcdefABCDEF", *text) || !*text)
        return false;
    errno = 0;
    unsigned long long address = strtoull(text, &end, 16);
    if (end == text || errno)
        return false;
    end += strspn(end, " \t\r\n");
    *address_ret = address;
    return *end == 0;
}

uint64_t address_parse_anyhow(const char *text, bool is32)
{
    text += strspn(text, " \t\n\v\f\r");
    if (*text == '+' && is32)
        return strtoull(text + 1, NULL, 0);
    if (*text == '-' || *text == '+')
        return 0;
    return strtoull(text, NULL, 16);
}

static enum address_next next_anyhow(struct address_input *input, uint64_t *address_ret)
{
    char piece[PIECE_SIZE];
    if (!fgets(piece, sizeof(piece), input->stream))
        return ADDRESS_END;
    input->size += strlen(piece);
    *address_ret = address_parse_anyhow(piece, input->is32);
    return ADDRESS_GOOD;
}

enum address_next address_next(struct address_input *input, uint64_t *address_ret)
{
    long size;
    if (input->anyhow)
        return next_anyhow(input, address_ret);
    while ((size = line_read(&input->line, &input->room, input->stream)) >= 0) {
        char *line = input->line;
        bool whole = strlen(line) == (size_t)size; /* no zero byte hides the rest */
        input->number++;
        input->size += (uint64_t)size;
        line[strcspn(line, "\r\n")] = 0;
        if (whole && line[strspn(line, " \t")] == 0)
            continue;
        return whole && address_parse(line, address_ret) ? ADDRESS_GOOD : ADDRESS_WRONG;
    }
    return ADDRESS_END;
}

void address_input_deinit(struct address_input *input)
{
    free(input->line);
    input->line = NULL;
}
