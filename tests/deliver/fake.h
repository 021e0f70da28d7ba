/* fake.h -- sinks that remember what they were given, and answer as they are told. */
#ifndef TRAIL_TEST_FAKE_SINK_H
#define TRAIL_TEST_FAKE_SINK_H

#include "core/deliver/deliver.h"
#include "core/os/os.h"
#include "test.h"

#define SECOND ((uint64_t)1000000000u)

struct fake_write {
    char key[40], bodies[256]; /* bodies one after another */
    uint32_t attempt, style;
    size_t count;
};

/* A sink under the control of the test. Zeroed, with a name, it takes everything. */
struct fake_sink {
    const char *name;
    char *const *channels; /* NULL: all */
    uint32_t style, flags; /* style 0: JSON */
    uint32_t batch_limit;
    /* what it answers: */
    unsigned retries;         /* so often: TRAIL_RETRY, then what follows */
    enum trail_status status; /* of the batch */
    const char *text;         /* its error */
    uint64_t retry_after_ns;
    char retry_body, reject_body; /* such a record is retried once, is rejected */
    char poison_body;             /* a batch that has such a record is rejected */
    /* how it is held up: */
    bool held; /* writes wait until fake_let_go, or stop() */
    /* what it saw: */
    struct trail_os_mutex lock;
    struct trail_os_cond changed;
    bool entered;
    unsigned write_count;
    struct fake_write writes[8];
    char delivered[256]; /* bodies that it took */
    struct trail_plugin plugin;
    struct trail_sink table;
};

struct trail_deliver *fake_deliver(struct fake_sink **sinks, size_t count);
enum trail_status fake_put(struct trail_deliver *deliver, const char *channel,
                           const char *body);
/* The same for a report that the program has printed itself. */
enum trail_status fake_put_printed(struct trail_deliver *deliver, const char *channel,
                                   const char *body);
void fake_wait_entered(struct fake_sink *sink);
void fake_let_go(struct fake_sink *sink);
/* A moment so many seconds from now. */
uint64_t fake_in(uint64_t seconds);
/* Standard error goes to a file from here on; what came is given back at the end. */
void fake_stderr_begin(void);
const char *fake_stderr_end(void);

#endif
