/* microhttpd_load.h -- libmicrohttpd, loaded when HTTP is to be taken, not before: it
 * brings GnuTLS along, and every verb of the program would start four times as slowly.
 */
#ifndef TRAIL_AGENT_MICROHTTPD_LOAD_H
#define TRAIL_AGENT_MICROHTTPD_LOAD_H

#include <microhttpd.h>

#include "backtrail/base.h"

/* Its functions that are used, under their names without MHD_. */
struct microhttpd {
    struct MHD_Daemon *(*start_daemon)(unsigned flags, uint16_t port,
                                       MHD_AcceptPolicyCallback accept,
                                       void *accept_arg,
                                       MHD_AccessHandlerCallback answer,
                                       void *answer_arg, ...);
    MHD_socket (*quiesce_daemon)(struct MHD_Daemon *server);
    void (*stop_daemon)(struct MHD_Daemon *server);
    struct MHD_Response *(*create_response_from_buffer)(
        size_t size, void *bytes, enum MHD_ResponseMemoryMode mode);
    enum MHD_Result (*add_response_header)(struct MHD_Response *response,
                                           const char *name, const char *value);
    enum MHD_Result (*queue_response)(struct MHD_Connection *connection, unsigned code,
                                      struct MHD_Response *response);
    void (*destroy_response)(struct MHD_Response *response);
    const char *(*lookup_connection_value)(struct MHD_Connection *connection,
                                           enum MHD_ValueKind kind, const char *name);
    const union MHD_ConnectionInfo *(*get_connection_info)(
        struct MHD_Connection *connection, enum MHD_ConnectionInfoType type, ...);
};

/* Once loaded it stays. Only for one thread at a time. */
enum trail_status microhttpd_load(const struct microhttpd **functions_ret,
                                  struct trail_error *err);

#endif
