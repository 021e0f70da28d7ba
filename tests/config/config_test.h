/* config_test.h -- what the tests of the configuration share. */
#ifndef CONFIG_TEST_H
#define CONFIG_TEST_H

#include "tests/produced.h"
#include "tests/test.h"
#include "config/config.h"

/* Parse a text as "agent.json" in the directory /etc/trail. */
static inline enum trail_status parse_sized(const char *text, size_t size,
                                            struct trail_config **config_ret,
                                            struct trail_error *err)
{
    enum trail_status status =
        trail_config_parse(text, size, "agent.json", "/etc/trail", config_ret, err);
    keep_produced(status ? "wrong" : "host", text, size);
    return status;
}

/* Parse a text that has to be right. */
static inline struct trail_config *parse_good(const char *text)
{
    struct trail_config *config = NULL;
    struct trail_error err = { "" };
    assert_ok_err(parse_sized(text, strlen(text), &config, &err), err);
    return config;
}

/* Fails unless parsing `text` fails with `message`. */
static inline void assert_refused_at(const char *text, size_t size, const char *message,
                                     const char *file, int line)
{
    struct trail_config *config = NULL;
    struct trail_error err = { "" };
    enum trail_status status = parse_sized(text, size, &config, &err);
    if (status == TRAIL_BAD_INPUT && !config && strcmp(err.text, message) == 0)
        return;
    print_error("status %d: %s\nwanted:   %s\n", (int)status, err.text, message);
    trail_config_destroy(config);
    _fail(file, line);
}
#define assert_refused(text, message)                                                  \
    assert_refused_at((text), strlen(text), (message), __FILE__, __LINE__)

#endif
