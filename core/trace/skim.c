/* skim.c -- the few members of a report by which it is passed on. */
#include "core/trace/skim.h"

#include "core/trace/json_write.h"
#include "core/trace/trace_read.h"
#include "core/trace/wire.h"

#define DEPTH_LIMIT  64
#define DIGITS_LIMIT 18 /* what every reader takes for a whole number */

/* What the value that is being read is part of. */
enum place {
    ELSEWHERE,
    REPORT,
    FINGERPRINT,
    TRACE,
    APP,
    THREADS,
    THREAD,
};

enum member {
    NONE,
    REPORT_VERSION,
    REPORT_KIND,
    REPORT_ID,
    REPORT_REVISION,
    REPORT_TRACE,
    REPORT_FINGERPRINT,
    FINGERPRINT_EXACT,
    TRACE_VERSION,
    TRACE_ID,
    TRACE_TIME,
    TRACE_WHY,
    TRACE_CHANNEL,
    TRACE_APP,
    TRACE_THREADS,
    TRACE_CUT,
    APP_NAME,
    THREAD_CRASHED,
};

static const struct {
    enum place of, to; /* to: what its object or array is */
    const char *name;
    enum member member;
} members[] = {
    { REPORT, ELSEWHERE, "backtrail", REPORT_VERSION },
    { REPORT, ELSEWHERE, "kind", REPORT_KIND },
    { REPORT, ELSEWHERE, "id", REPORT_ID },
    { REPORT, ELSEWHERE, "revision", REPORT_REVISION },
    { REPORT, TRACE, "trace", REPORT_TRACE },
    { REPORT, FINGERPRINT, "fingerprint", REPORT_FINGERPRINT },
    { FINGERPRINT, ELSEWHERE, "exact", FINGERPRINT_EXACT },
    { TRACE, ELSEWHERE, "backtrail", TRACE_VERSION },
    { TRACE, ELSEWHERE, "id", TRACE_ID },
    { TRACE, ELSEWHERE, "time_ns", TRACE_TIME },
    { TRACE, ELSEWHERE, "why", TRACE_WHY },
    { TRACE, ELSEWHERE, "channel", TRACE_CHANNEL },
    { TRACE, APP, "app", TRACE_APP },
    { TRACE, THREADS, "threads", TRACE_THREADS },
    { TRACE, ELSEWHERE, "cut", TRACE_CUT },
    { APP, ELSEWHERE, "name", APP_NAME },
    { THREAD, ELSEWHERE, "crashed", THREAD_CRASHED },
};

struct skimming {
    const uint8_t *at, *end;
    struct trail_skim *skim;
    uint32_t seen; /* 1 << member; one that comes twice is unusual */
    char trace_id[33];
};

/* ---- text and numbers ---------------------------------------------------- */

static void skip_space(struct skimming *s)
{
    while (s->at < s->end &&
           (*s->at == ' ' || *s->at == '\t' || *s->at == '\n' || *s->at == '\r'))
        s->at++;
}

static bool take(struct skimming *s, char byte)
{
    if (s->at == s->end || *s->at != (uint8_t)byte)
        return false;
    s->at++;
    return true;
}

static bool is_hex(uint8_t byte)
{
    return (byte >= '0' && byte <= '9') || (byte >= 'a' && byte <= 'f') ||
           (byte >= 'A' && byte <= 'F');
}

/* After a backslash. Surrogates, and the zero that ends text in C, are unusual. */
static bool read_escape(struct skimming *s)
{
    if (s->at == s->end)
        return false;
    uint8_t letter = *s->at++;
    if (letter != 'u')
        return letter && strchr("\"\\/bfnrt", letter);
    if (s->end - s->at < 4)
        return false;
    for (int i = 0; i < 4; i++)
        if (!is_hex(s->at[i]))
            return false;
    bool surrogate = (s->at[0] | 0x20) == 'd' && s->at[1] >= '8';
    bool zero = memcmp(s->at, "0000", 4) == 0;
    s->at += 4;
    return !surrogate && !zero;
}

/* What is between the quotes; `plain_ret`: it means what is written. */
static bool read_string(struct skimming *s, struct trail_text *text_ret,
                        bool *plain_ret)
{
    if (!take(s, '"'))
        return false;
    const uint8_t *start = s->at;
    *plain_ret = true;
    while (s->at < s->end && *s->at != '"') {
        if (*s->at >= 0x20 && *s->at < 0x80 && *s->at != '\\') {
            s->at++;
        } else if (*s->at == '\\') {
            *plain_ret = false;
            s->at++;
            if (!read_escape(s))
                return false;
        } else {
            size_t size =
                *s->at < 0x20 ? 0 : trail_utf8_size(s->at, (size_t)(s->end - s->at));
            if (!size)
                return false;
            s->at += size;
        }
    }
    *text_ret = (struct trail_text){ (const char *)start, (size_t)(s->at - start) };
    return take(s, '"');
}

static size_t read_digits(struct skimming *s)
{
    const uint8_t *start = s->at;
    while (s->at < s->end && *s->at >= '0' && *s->at <= '9')
        s->at++;
    return (size_t)(s->at - start);
}

/* Exponents, and more digits than a number of 64 bits has, are unusual. */
static bool read_number(struct skimming *s, uint64_t *number_ret, bool *whole_ret)
{
    bool negative = take(s, '-');
    const uint8_t *start = s->at;
    size_t count = read_digits(s);
    if (count == 0 || count > DIGITS_LIMIT || (count > 1 && *start == '0'))
        return false;
    uint64_t number = 0;
    for (size_t i = 0; i < count; i++)
        number = number * 10 + (uint64_t)(start[i] - '0');
    bool fraction = take(s, '.');
    if (fraction) {
        count = read_digits(s);
        if (count == 0 || count > DIGITS_LIMIT)
            return false;
    }
    *number_ret = number;
    *whole_ret = !negative && !fraction;
    return s->at == s->end || (*s->at != 'e' && *s->at != 'E' && *s->at != '.');
}

static bool read_word(struct skimming *s, const char *word)
{
    size_t size = strlen(word);
    if ((size_t)(s->end - s->at) < size || memcmp(s->at, word, size) != 0)
        return false;
    s->at += size;
    return true;
}

/* ---- the members that are wanted ----------------------------------------- */

static bool keep(struct trail_text text, char *ret, size_t size)
{
    if (text.size >= size)
        return false;
    memcpy(ret, text.data, text.size);
    ret[text.size] = 0;
    return true;
}

static bool keep_id(struct trail_text text, char ret[33])
{
    return text.size == 32 && keep(text, ret, 33) &&
           strspn(ret, "0123456789abcdef") == 32;
}

static bool keep_time(struct trail_text text, uint64_t *time_ret)
{
    uint64_t time = 0;
    if (text.size == 0 || text.size > 19 || text.data[0] == '0')
        return false;
    for (size_t i = 0; i < text.size; i++) {
        if (text.data[i] < '0' || text.data[i] > '9')
            return false;
        time = time * 10 + (uint64_t)(text.data[i] - '0');
    }
    *time_ret = time;
    return true;
}

static bool use_text(struct skimming *s, enum member member, struct trail_text text)
{
    struct trail_skim *skim = s->skim;
    switch (member) {
    case NONE:
        return true;
    case REPORT_KIND:
        return text.size == 6 && memcmp(text.data, "report", 6) == 0;
    case REPORT_ID:
        return keep_id(text, skim->id);
    case TRACE_ID:
        return keep_id(text, s->trace_id);
    case TRACE_TIME:
        return keep_time(text, &skim->time_ns);
    case TRACE_WHY:
        return keep(text, skim->why, sizeof(skim->why));
    case TRACE_CHANNEL:
        return keep(text, skim->channel, sizeof(skim->channel));
    case APP_NAME:
        return keep(text, skim->app, sizeof(skim->app));
    case FINGERPRINT_EXACT:
        return text.size == 16 && keep(text, skim->exact, sizeof(skim->exact)) &&
               strspn(skim->exact, "0123456789abcdef") == 16;
    default:
        return false; /* it should be something else */
    }
}

static bool use_number(struct skimming *s, enum member member, uint64_t number,
                       bool whole)
{
    if (member == NONE)
        return true;
    if (member == REPORT_VERSION || member == TRACE_VERSION)
        return whole && number <= TRAIL_WIRE_VERSION &&
               number + 1 >= TRAIL_WIRE_VERSION_OLDEST + 1;
    if (member != REPORT_REVISION || !whole || number == 0 || number > INT32_MAX)
        return false;
    s->skim->revision = (uint32_t)number;
    return true;
}

static bool use_flag(struct skimming *s, enum member member, bool flag)
{
    if (member == THREAD_CRASHED)
        s->skim->crashed |= flag;
    return member == NONE || member == THREAD_CRASHED || (member == TRACE_CUT && !flag);
}

/* ---- the grammar --------------------------------------------------------- */

static bool read_value(struct skimming *s, enum member member, enum place to,
                       unsigned depth);

/* Which member a key is, and what its value is; false: it came before. */
static bool find(struct skimming *s, enum place of, struct trail_text key, bool plain,
                 enum member *member_ret, enum place *to_ret)
{
    *member_ret = NONE;
    *to_ret = ELSEWHERE;
    if (of == ELSEWHERE)
        return true;
    if (!plain)
        return false; /* it may be one of ours in disguise */
    for (size_t i = 0; i < sizeof(members) / sizeof(members[0]); i++) {
        if (members[i].of != of || strlen(members[i].name) != key.size ||
            memcmp(members[i].name, key.data, key.size) != 0)
            continue;
        uint32_t bit = 1u << members[i].member;
        bool again = members[i].of != THREAD && s->seen & bit;
        s->seen |= bit;
        *member_ret = members[i].member;
        *to_ret = members[i].to;
        return !again;
    }
    return true;
}

static bool read_object(struct skimming *s, enum place place, unsigned depth)
{
    skip_space(s);
    if (take(s, '}'))
        return true;
    do {
        struct trail_text key;
        bool plain;
        enum member member;
        enum place to;
        skip_space(s);
        if (!read_string(s, &key, &plain) || !find(s, place, key, plain, &member, &to))
            return false;
        skip_space(s);
        if (!take(s, ':') || !read_value(s, member, to, depth))
            return false;
        skip_space(s);
    } while (take(s, ','));
    return take(s, '}');
}

static bool read_array(struct skimming *s, enum place place, unsigned depth)
{
    skip_space(s);
    if (take(s, ']'))
        return true;
    do {
        if (!read_value(s, NONE, place == THREADS ? THREAD : ELSEWHERE, depth))
            return false;
        skip_space(s);
    } while (take(s, ','));
    return take(s, ']');
}

static bool read_scalar(struct skimming *s, enum member member)
{
    struct trail_text text;
    uint64_t number;
    bool plain, whole;
    switch (*s->at) {
    case '"':
        return read_string(s, &text, &plain) && (plain || member == NONE) &&
               use_text(s, member, text);
    case 't':
        return read_word(s, "true") && use_flag(s, member, true);
    case 'f':
        return read_word(s, "false") && use_flag(s, member, false);
    case 'n':
        return read_word(s, "null") && member == NONE;
    default:
        return read_number(s, &number, &whole) && use_number(s, member, number, whole);
    }
}

static bool read_value(struct skimming *s, enum member member, enum place to,
                       unsigned depth)
{
    skip_space(s);
    if (s->at == s->end || depth == DEPTH_LIMIT)
        return false;
    bool object = *s->at == '{', array = *s->at == '[';
    /* A member that should be an object or an array is one, and another is none. */
    if (member != NONE && (to == THREADS ? !array : to != ELSEWHERE && !object))
        return false;
    if (object || array) {
        if (member != NONE && to == ELSEWHERE)
            return false;
        s->at++;
        return object ? read_object(s, to == THREADS ? ELSEWHERE : to, depth + 1)
                      : read_array(s, to, depth + 1);
    }
    return read_scalar(s, member);
}

bool trail_skim(const char *text, size_t size, struct trail_skim *skim_ret)
{
    const uint32_t needed = 1u << REPORT_VERSION | 1u << REPORT_KIND | 1u << REPORT_ID |
                            1u << REPORT_TRACE | 1u << TRACE_VERSION | 1u << TRACE_ID |
                            1u << TRACE_TIME;
    struct trail_skim skim = { .revision = 1 };
    struct skimming s = { .at = (const uint8_t *)text, .skim = &skim };
    s.end = s.at + size;
    if (size > trail_trace_size_limit(text, size))
        return false;
    skip_space(&s);
    if (!take(&s, '{') || !read_object(&s, REPORT, 1))
        return false;
    skip_space(&s);
    if (s.at != s.end || (s.seen & needed) != needed ||
        strcmp(skim.id, s.trace_id) != 0)
        return false;
    *skim_ret = skim;
    return true;
}
