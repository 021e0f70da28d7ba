/* http_fixture.c -- see http_fixture.h. */
#include "http_fixture.h"

void fixture_init(struct fixture *fixture, const struct server_answer *answers,
                  size_t count)
{
    *fixture = (struct fixture){ .sink = plugin_load("http"),
                                 .call = call_of("key-of-the-batch") };
    server_start(&fixture->server, answers, count);
    option_text(&fixture->options, "url", fixture->server.url);
}

void fixture_deinit(struct fixture *fixture, void *state)
{
    fixture->sink->destroy(state);
    server_deinit(&fixture->server);
}

enum trail_status write_body(struct fixture *fixture, void *state, const char *body)
{
    struct trail_record record = record_of(TRAIL_STYLE_JSON, body);
    struct trail_verdict verdict = { .size = sizeof(verdict) };

    return fixture->sink->write(state, &fixture->call, &record, 1, &verdict,
                                &fixture->err);
}

/* One record against one answer, after which the server has stopped. */
enum trail_status answered(struct fixture *fixture, const char *head)
{
    const struct server_answer answer = { .head = head };

    fixture_init(fixture, &answer, 1);
    void *state = state_of(fixture->sink, &fixture->options);
    enum trail_status status = write_body(fixture, state, "{\"n\":1}");
    fixture_deinit(fixture, state);
    return status;
}
