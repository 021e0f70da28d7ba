/* notice.c -- what Backtrail has to say about itself. */
#include "core/deliver/notice.h"

#include "core/os/os.h"

void trail_notice(const char *format, ...)
{
    char line[1024] = "backtrail: ";
    size_t start = strlen(line);
    va_list args;
    va_start(args, format);
    vsnprintf(line + start, sizeof(line) - start - 1, format, args);
    va_end(args);
    size_t size = strlen(line);
    line[size++] = '\n';
    trail_os_write(2, line, size);
}
