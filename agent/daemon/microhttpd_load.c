/* microhttpd_load.c -- libmicrohttpd, loaded when HTTP is to be taken. */
#include "agent/daemon/microhttpd_load.h"

#include "core/os/os.h"

static struct microhttpd functions;
static struct trail_os_library *library;

static const struct {
    const char *name;
    void *to;
} rows[] = {
    { "MHD_start_daemon", &functions.start_daemon },
    { "MHD_quiesce_daemon", &functions.quiesce_daemon },
    { "MHD_stop_daemon", &functions.stop_daemon },
    { "MHD_create_response_from_buffer", &functions.create_response_from_buffer },
    { "MHD_add_response_header", &functions.add_response_header },
    { "MHD_queue_response", &functions.queue_response },
    { "MHD_destroy_response", &functions.destroy_response },
    { "MHD_lookup_connection_value", &functions.lookup_connection_value },
    { "MHD_get_connection_info", &functions.get_connection_info },
};

enum trail_status microhttpd_load(const struct microhttpd **functions_ret,
                                  struct trail_error *err)
{
    struct trail_error why = { "" };
    if (!library && trail_os_library_open(BACKTRAIL_MICROHTTPD, &library, &why))
        return trail_fail(err, TRAIL_NOT_FOUND,
                          "agent.http.listen: %s; install libmicrohttpd", why.text);
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        void *found = trail_os_library_symbol(library, rows[i].name);
        if (!found)
            return trail_fail(err, TRAIL_UNSUPPORTED,
                              "agent.http.listen: %s has no %s; install a newer one",
                              BACKTRAIL_MICROHTTPD, rows[i].name);
        memcpy(rows[i].to, &found, sizeof(found));
    }
    *functions_ret = &functions;
    return TRAIL_OK;
}
