/* add.c -- `symbols add`: modules and debug files, put into the store by their ids. */
#include "agent/symbols/interrupt.h"
#include "agent/symbols/symbols.h"

static enum trail_status add(const struct symbols_session *session, const char *path,
                             struct trail_error *err)
{
    struct trail_store_entry entry;
    bool added = false;
    char size[SYMBOLS_SIZE_TEXT];
    enum trail_status status =
        trail_store_add(session->store, path, &entry, &added, err);
    if (status)
        return status;
    symbols_size_print(entry.size, size);
    printf("%s%s%s  %s  %s  %s\n", entry.id, trail_store_ending(entry.kind),
           entry.by_hash ? " unverified" : "", size,
           added ? "added" : "is there already", path);
    return TRAIL_OK;
}

int symbols_add(struct symbols_session *session, char **arguments, int count)
{
    struct trail_error err = { "" };
    int exit_code = EXIT_DONE;
    for (int i = 0; i < count && !interrupt_came(); i++)
        if (add(session, arguments[i], &err))
            exit_code = failure("%s", err.text);
    return exit_code;
}
