/* scan.c -- finding the few lines of a log that may be of interest. */
#define _GNU_SOURCE

#include "agent/log/scan.h"

static const char *next_braces(const char *at, const char *end)
{
    while (at < end) {
        at = memchr(at, '{', (size_t)(end - at));
        if (!at || end - at < 3)
            return end;
        if (at[1] == '{' && at[2] == '{')
            return at;
        at++;
    }
    return end;
}

/* "0x" begins every number that a stack line has; "-xp " is how a mapping of code is
 * told. Both have a letter that is rare in text. */
static const char *next_other(const char *at, const char *end)
{
    const char *start = at;
    while (at < end) {
        at = memchr(at, 'x', (size_t)(end - at));
        if (!at)
            return end;
        bool code = end - at > 2 && at[1] == 'p' && at[2] == ' ';
        if (at > start && (at[-1] == '0' || (at[-1] == '-' && code)))
            return at;
        at++;
    }
    return end;
}

void log_scan_init(struct log_scan *scan, struct trail_text lines, bool markup_only)
{
    *scan = (struct log_scan){ .at = lines.data,
                               .end = lines.data + lines.size,
                               .markup_only = markup_only };
    scan->braces = next_braces(scan->at, scan->end);
    scan->other = markup_only ? scan->end : next_other(scan->at, scan->end);
}

bool log_scan_next(struct log_scan *scan, struct trail_text *line_ret)
{
    if (scan->braces < scan->at)
        scan->braces = next_braces(scan->at, scan->end);
    if (scan->other < scan->at)
        scan->other = next_other(scan->at, scan->end);
    const char *mark = scan->braces < scan->other ? scan->braces : scan->other;
    if (mark == scan->end)
        return false;
    const char *before = memrchr(scan->at, '\n', (size_t)(mark - scan->at));
    const char *start = before ? before + 1 : scan->at;
    const char *newline = memchr(mark, '\n', (size_t)(scan->end - mark));
    scan->at = newline ? newline + 1 : scan->end;
    *line_ret = (struct trail_text){ start, (size_t)(scan->at - start) };
    return true;
}
