/* finder.h -- finding the files of a log's modules, and asking the resolver: the
 * backend of the program.
 */
#ifndef TRAIL_AGENT_LOG_FINDER_H
#define TRAIL_AGENT_LOG_FINDER_H

#include "agent/log/image.h"
#include "agent/log/modules.h"

#define LOG_OPEN_LIMIT 16 /* images kept open for their symbols and segments */

struct log_finder {
    struct trail_resolver *resolver;
    struct trail_routes routes;
    const char *given; /* the module whose id is not asked for */
    unsigned flags;    /* enum trail_lookup_flags */
    struct log_found *open[LOG_OPEN_LIMIT];
    size_t next;
    bool failed; /* the file on the command line cannot be used */
};

struct log_backend log_finder_backend(struct log_finder *finder);

#endif
