/* daemon.h -- the agent as a whole: its parts in the order in which data flows, and
 * what the control socket asks of it.
 *
 *     inputs (inbox, socket, standard input, HTTP) -> intake -> record
 *     record -> naming (raw traces become reports) -> record -> couriers -> sinks
 */
#ifndef TRAIL_AGENT_DAEMON_H
#define TRAIL_AGENT_DAEMON_H

#include "agent/daemon/generation.h"
#include "agent/daemon/inputs.h"
#include "agent/daemon/local.h"
#include "agent/daemon/naming.h"
#include "agent/daemon/places.h"
#include "core/os/os.h"

/* Over which the rate is told. */
#define DAEMON_RATE_SECONDS 60

struct control;

struct daemon {
    const char *config_path, *plugin_path; /* NULL: as everywhere */
    struct places places;                  /* the lock is over it, for other threads */
    int lock_fd;                           /* -1: not locked */
    struct trail_journal *journal;
    struct intake *intake;
    struct naming *naming;
    struct naming_counts named;
    struct inputs *inputs;
    struct control *control;
    struct local_wake wake; /* of the main thread */
    uint64_t started_ns, started_mono_ns;

    struct trail_os_mutex lock; /* over all that follows */
    struct trail_os_cond changed;
    struct generation *now;
    uint64_t reload_asked, reload_done; /* how many were asked for; up to which it is */
    enum trail_status reload_status;    /* of the last one */
    struct trail_error reload_error;
    uint64_t reloads, reloads_failed, reloaded_ns;
    uint64_t taken[DAEMON_RATE_SECONDS + 1]; /* in all, each second; a ring */
    size_t taken_count;                      /* that were written */
};

/* Run until a signal ends it. Returns what to exit with. */
int daemon_run(const char *config_path, const char *plugin_path);

/* ---- for other threads -------------------------------------------------- */

/* The generation that counts now, for as long as it is held. */
struct generation *daemon_hold(struct daemon *daemon);
void daemon_let_go(struct daemon *daemon, struct generation *generation);

struct places daemon_places(struct daemon *daemon);
/* Traces and reports a second, over the last minute. */
double daemon_rate(struct daemon *daemon);

/* Read the config anew, and wait until that has been done: calls that come while one is
 * under way share the next. On a mistake all stays as it is.
 *
 * Errors: as of generation_load; TRAIL_REFUSED: something that cannot change while the
 *         agent runs. */
enum trail_status daemon_reload(struct daemon *daemon, struct trail_error *err);

#endif
