/* maps.c -- what a log says of where code is mapped. */
#include "agent/log/maps.h"

struct mapping {
    uint64_t start, end, offset;
    struct trail_text path;
};

/* The path at the end of a line. */
static bool take_path(struct log_cursor cursor, struct trail_text *path_ret)
{
    log_take_blanks(&cursor);
    struct trail_text path = { cursor.at, (size_t)(cursor.end - cursor.at) };
    if (path.size == 0 || path.data[0] != '/')
        return false;
    log_take_off(&path, LOG_DELETED);
    *path_ret = path;
    return true;
}

/* Four letters; true if the third says that code may run there. */
static bool take_code(struct log_cursor *cursor)
{
    const char *at = cursor->at;
    if (cursor->end - at < 4 || (at[0] != 'r' && at[0] != '-') ||
        (at[1] != 'w' && at[1] != '-') || at[2] != 'x' ||
        (at[3] != 'p' && at[3] != 's'))
        return false;
    cursor->at += 4;
    return true;
}

/* 55d0c1a01000-55d0c1a02000 r-xp 00001000 08:01 131 /path */
static bool proc_maps(struct trail_text line, struct mapping *mapping)
{
    uint64_t device, node;
    size_t code = log_find(line, 0, "xp ");
    size_t dash = code == SIZE_MAX ? SIZE_MAX : log_find_last(line, code - 1, "-");
    if (code == SIZE_MAX || code < 4)
        return false;
    /* The range ends a blank before the letters; what stands before it is the log's. */
    dash = log_find_last(line, code - 3, "-");
    if (dash == SIZE_MAX)
        return false;
    size_t start = dash;
    while (start && log_is_hex(line.data[start - 1]))
        start--;
    struct log_cursor cursor = log_cursor_of(log_part(line, start, line.size));
    return log_take_hex(&cursor, &mapping->start) && log_take(&cursor, "-") &&
           log_take_hex(&cursor, &mapping->end) && log_take(&cursor, " ") &&
           take_code(&cursor) && log_take(&cursor, " ") &&
           log_take_hex(&cursor, &mapping->offset) && log_take(&cursor, " ") &&
           log_take_hex(&cursor, &device) && log_take(&cursor, ":") &&
           log_take_hex(&cursor, &device) && log_take(&cursor, " ") &&
           log_take_decimal(&cursor, &node) && take_path(cursor, &mapping->path);
}

/* 0x555555555000 0x555555556000 0x1000 0x1000 r-xp /path */
static bool gdb_mapping(struct trail_text line, struct mapping *mapping)
{
    uint64_t size;
    struct log_cursor cursor = log_cursor_of(line);
    log_take_blanks(&cursor);
    if (!log_take_0x(&cursor, &mapping->start) || !log_take_blanks(&cursor) ||
        !log_take_0x(&cursor, &mapping->end) || !log_take_blanks(&cursor) ||
        !log_take_0x(&cursor, &size) || !log_take_blanks(&cursor) ||
        !log_take_0x(&cursor, &mapping->offset) || !log_take_blanks(&cursor) ||
        size != mapping->end - mapping->start)
        return false;
    /* Before its version 12 gdb told no letters, and each segment may be the code. */
    bool letters = cursor.at < cursor.end && (*cursor.at == 'r' || *cursor.at == '-');
    return (!letters || take_code(&cursor)) && take_path(cursor, &mapping->path);
}

/* 0x00007ffff7dc8700  0x00007ffff7f3e0fd  Yes (*)     /path */
static bool gdb_library(struct trail_text line, struct mapping *mapping)
{
    struct log_cursor cursor = log_cursor_of(line);
    if (!log_take_0x(&cursor, &mapping->start) || !log_take_blanks(&cursor) ||
        !log_take_0x(&cursor, &mapping->end) || !log_take_blanks(&cursor) ||
        (!log_take(&cursor, "Yes") && !log_take(&cursor, "No")))
        return false;
    log_take_blanks(&cursor);
    log_take(&cursor, "(*)");
    return take_path(cursor, &mapping->path);
}

bool log_maps_learn(struct log_modules *modules, struct trail_text line)
{
    const struct log_backend *backend = modules->backend;
    const struct trail_text no_id = { 0 };
    struct mapping mapping;
    struct log_range range = { 0 };
    bool library = gdb_library(line, &mapping);
    if (!library && !proc_maps(line, &mapping) && !gdb_mapping(line, &mapping))
        return false;
    range.start = mapping.start;
    range.size = mapping.end - mapping.start;
    range.module = log_modules_get(modules, mapping.path, no_id, false);
    if (!range.module || !range.module->usable)
        return true;
    bool known = library ? backend->text(backend->arg, range.module, &range.link)
                         : backend->of_offset(backend->arg, range.module,
                                              mapping.offset, &range.link);
    if (known)
        log_modules_map(modules, range);
    return true;
}
