/* inputs.c -- all the ways into an agent. */
#include "agent/daemon/inputs.h"

#include <stdlib.h>

#include "agent/daemon/feed.h"
#include "agent/daemon/http.h"
#include "agent/daemon/inbox_read.h"
#include "core/os/os.h"

#define SOCKET_ALL 0666 /* who may connect: the kernel says who it is */
#define SOCKET_OWN 0600

struct inputs {
    char inbox_path[PLACE_SIZE], feed_path[PLACE_SIZE];
    struct inbox_read *inbox;
    struct feed *feed;
    struct http *http;
};

static enum trail_status start_all(const struct inputs_options *options,
                                   struct inputs *before, struct inputs *inputs,
                                   struct trail_error *err)
{
    const struct trail_config_agent *agent = &options->config->agent;
    const struct http_options http = { .agent = agent,
                                       .store = options->store,
                                       .intake = options->intake };
    enum trail_status status = TRAIL_OK;
    bool same_inbox = before && strcmp(before->inbox_path, inputs->inbox_path) == 0;
    bool same_feed = before && strcmp(before->feed_path, inputs->feed_path) == 0;
    if (!same_inbox)
        status =
            inbox_read_start(inputs->inbox_path, options->intake, &inputs->inbox, err);
    if (!status && !same_feed)
        status =
            feed_start(inputs->feed_path,
                       trail_os_user() == 0 ? SOCKET_ALL : SOCKET_OWN,
                       agent->stdin_ && !before, options->intake, &inputs->feed, err);
    if (!status && agent->http_listen)
        status = http_start(&http, before ? before->http : NULL, &inputs->http, err);
    if (status)
        return status;
    if (same_inbox)
        inputs->inbox = before->inbox;
    if (same_feed)
        inputs->feed = before->feed;
    if (before && same_inbox)
        before->inbox = NULL;
    if (before && same_feed)
        before->feed = NULL;
    return TRAIL_OK;
}

enum trail_status inputs_start(const struct inputs_options *options,
                               struct inputs *before, struct inputs **inputs_ret,
                               struct trail_error *err)
{
    struct inputs *inputs = calloc(1, sizeof(*inputs));
    if (!inputs)
        return trail_fail(err, TRAIL_NO_MEMORY, "inputs: out of memory");
    snprintf(inputs->inbox_path, PLACE_SIZE, "%s", options->places->inbox);
    snprintf(inputs->feed_path, PLACE_SIZE, "%s", options->places->socket);
    enum trail_status status = start_all(options, before, inputs, err);
    if (status) {
        inputs_stop(inputs);
        return status;
    }
    inputs_stop(before);
    *inputs_ret = inputs;
    return TRAIL_OK;
}

void inputs_stop(struct inputs *inputs)
{
    if (!inputs)
        return;
    http_stop(inputs->http);
    feed_stop(inputs->feed);
    inbox_read_stop(inputs->inbox);
    free(inputs);
}
