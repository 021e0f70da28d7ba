/* base.h -- the words every part shares: how a call says that it failed, how
 * text is lent, how an option reaches a plugin, and the identity record that
 * makes a shared object a plugin. Included for you by the other headers.
 *
 * TRAIL_OK is zero, so `if (status)` reads "if it failed". A function whose
 * failure a person will read about takes a struct trail_error as its last
 * parameter; NULL means that the caller does not want the words.
 *
 * Sized structs: a struct with a leading `size` may grow at its end. Whoever
 * fills one in sets `size` to its own sizeof; whoever reads one looks only at
 * members that `size` covers. Members are never removed, moved or retyped. In an array
 * of sized structs the elements lie as far apart as the `size` of the first says: use
 * trail_sized_at, or the accessors made of it, and never [].
 */
#ifndef BACKTRAIL_BASE_H
#define BACKTRAIL_BASE_H

#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#ifdef __cplusplus
extern "C" {
#endif

#ifdef _WIN32
#define TRAIL_EXPORT         __declspec(dllexport)
#define TRAIL_RECORD_SECTION ".btrail"
#elif defined(__APPLE__)
#define TRAIL_EXPORT         __attribute__((visibility("default")))
#define TRAIL_RECORD_SECTION "__TEXT,__backtrail"
#else
#define TRAIL_EXPORT         __attribute__((visibility("default")))
#define TRAIL_RECORD_SECTION ".note.backtrail"
#endif

#ifdef __GNUC__
#define TRAIL_NORETURN __attribute__((noreturn))
#define TRAIL_PRINTF(format_at, args_at)                                               \
    __attribute__((format(printf, format_at, args_at)))
#else
#define TRAIL_NORETURN
#define TRAIL_PRINTF(format_at, args_at)
#endif

enum trail_status {
    TRAIL_OK = 0,
    TRAIL_NOT_FOUND, /* no answer here, nothing is wrong: ask the next one */
    TRAIL_RETRY,     /* not now: the same call may work later */
    TRAIL_BAD_INPUT, /* a file, record or option is malformed; never worth a retry */
    TRAIL_REFUSED, /* not permitted, or not the thing that was asked for (another id) */
    TRAIL_IO,      /* the operating system refused */
    TRAIL_NO_MEMORY,
    TRAIL_UNSUPPORTED, /* this platform or build cannot do it */
    TRAIL_CANCELLED,   /* stop() said so, or the deadline passed */
};

struct trail_error {
    char text[256]; /* one line, no newline, always terminated */
};

/* Bytes lent until the call they were passed to, or came from, returns. Not
 * terminated. size 0 means unknown; data may then be NULL. */
struct trail_text {
    const char *data;
    size_t size; /* bytes */
};

/* Fill `err` (may be NULL) and hand `status` back, so that failing is one
 * statement:  return trail_fail(err, TRAIL_IO, "%s: %s", path, strerror(errno)); */
TRAIL_PRINTF(3, 4)
static inline enum trail_status trail_fail(struct trail_error *err,
                                           enum trail_status status, const char *format,
                                           ...)
{
    if (err) {
        va_list args;
        va_start(args, format);
        vsnprintf(err->text, sizeof(err->text), format, args);
        va_end(args);
    }
    return status;
}

/* Lend a terminated string; NULL becomes the empty text. */
static inline struct trail_text trail_text_of(const char *string)
{
    struct trail_text text = { string, string ? strlen(string) : 0 };
    return text;
}

/* Element `index` of an array of sized structs. */
static inline const void *trail_sized_at(const void *array, size_t index)
{
    uint32_t size;
    memcpy(&size, array, sizeof(size));
    return (const char *)array + index * size;
}

/* ---- options ------------------------------------------------------------ */

enum trail_option_type {
    TRAIL_OPTION_TEXT = 1,
    TRAIL_OPTION_PATH,     /* text; "~/" and "${dir}/" are expanded */
    TRAIL_OPTION_BOOL,     /* number: 0 or 1 */
    TRAIL_OPTION_COUNT,    /* number: a whole number */
    TRAIL_OPTION_SIZE,     /* number: bytes; written 4096, "64KiB", "16MiB", "1GiB" */
    TRAIL_OPTION_DURATION, /* number: nanoseconds; written "200ms", "5s", "2m", "1h" */
    TRAIL_OPTION_MAP,  /* one struct trail_option per member; name is the member's */
    TRAIL_OPTION_LIST, /* one struct trail_option per element */
    TRAIL_OPTION_URL,  /* text; starts with https:// or http:// and names a host */
};

enum trail_option_flags {
    TRAIL_OPTION_REQUIRED = 1, /* create() is not called without it */
    TRAIL_OPTION_SECRET = 2,   /* shown as *** wherever the configuration is printed */
};

/* One row of a plugin's option table. The loader checks the configuration
 * against it, fills in defaults, and prints it in `backtrail plugins`. */
struct trail_option_spec {
    uint32_t type, flags;
    const char *key; /* "path"; "rotate.size" is member `size` of object `rotate` */
    const char *default_value; /* as it would be written in the file; NULL: none */
    const char *help;          /* one line, no full stop */
    /* From here on a table may end, going by its stride. */
    const char *words; /* what a TEXT may be: "json|otlp"; NULL: anything */
    /* The least and the most that a COUNT, SIZE or DURATION may be, as they would be
     * written in the file; NULL: any. */
    const char *least, *most;
};

/* The smallest stride that a table may have. */
#define TRAIL_OPTION_SPEC_MIN offsetof(struct trail_option_spec, words)

/* One option as create() sees it: checked, expanded, in the order of the table. */
struct trail_option {
    const char *key;        /* of the table's row */
    const char *name;       /* member name in a MAP, otherwise "" */
    struct trail_text text; /* the value as written, expanded; terminated too */
    uint64_t number;        /* see enum trail_option_type; 0 for text */
};

struct trail_options {
    uint32_t size, count;
    uint32_t stride; /* bytes from one option to the next: the element may grow */
    const struct trail_option *at;
};

static inline const struct trail_option *trail_options_at(
    const struct trail_options *options, uint32_t index)
{
    const char *base = (const char *)options->at;
    return (const struct trail_option *)(const void *)(base +
                                                       (size_t)index * options->stride);
}

/* The first option called `key`, or NULL: not configured and without default. */
static inline const struct trail_option *trail_options_find(
    const struct trail_options *options, const char *key)
{
    for (uint32_t i = 0; i < options->count; i++)
        if (strcmp(trail_options_at(options, i)->key, key) == 0)
            return trail_options_at(options, i);
    return NULL;
}

/* ---- identity ----------------------------------------------------------- */

enum trail_plugin_kind {
    TRAIL_KIND_SYMBOLIZER = 1,
    TRAIL_KIND_SINK = 2,
};

/* What a plugin will ask of its surroundings; granted or refused by the host. */
enum trail_plugin_needs {
    TRAIL_NEEDS_FILES = 1,   /* opens files by itself */
    TRAIL_NEEDS_NETWORK = 2, /* opens sockets */
    TRAIL_NEEDS_EXEC = 4,    /* starts programs */
};

#define TRAIL_RECORD_VERSION 1
#define TRAIL_RECORD_OWNER                                                             \
    "Backtrail" /* owner name of the ELF note, terminated: 10 bytes */
#define TRAIL_RECORD_NOTE_TYPE 1

/* The identity record: an ELF note (gABI "Note Section") whose descriptor says
 * what this file is. The host reads it from the file before any code in the
 * file runs, and loads nothing whose record it does not like. All integers in
 * the byte order of the file. */
struct trail_record_desc {
    uint32_t version; /* TRAIL_RECORD_VERSION */
    uint32_t kind;    /* enum trail_plugin_kind */
    uint32_t abi;     /* TRAIL_SYMBOLIZER_ABI or TRAIL_SINK_ABI */
    uint32_t table;   /* sizeof the exported struct */
    uint32_t shape;   /* TRAIL_SYMBOLIZER_SHAPE or TRAIL_SINK_SHAPE */
    uint32_t needs;   /* enum trail_plugin_needs, or-ed */
    char name[32];    /* as in the config file; terminated */
    char release[24]; /* the plugin's own version; terminated */
};

struct trail_plugin_record {
    uint32_t owner_size, desc_size, type;
    char owner[12]; /* TRAIL_RECORD_OWNER, padded to four bytes */
    struct trail_record_desc desc;
};

#define TRAIL_JOIN_(a, b) a##b
#define TRAIL_JOIN(a, b)  TRAIL_JOIN_(a, b)

#if defined(_WIN32) && defined(__GNUC__)
#define TRAIL_RECORD_ATTRIBUTES                                                        \
    __attribute__((used, aligned(4), section(TRAIL_RECORD_SECTION)))
#elif defined(__clang__)
/* clang's address sanitizer would put red zones between the notes of a segment. */
#define TRAIL_RECORD_ATTRIBUTES                                                        \
    __attribute__((used, aligned(4), visibility("hidden"), no_sanitize("address"),     \
                   section(TRAIL_RECORD_SECTION)))
#elif defined(__GNUC__)
#define TRAIL_RECORD_ATTRIBUTES                                                        \
    __attribute__((used, aligned(4), visibility("hidden"),                             \
                   section(TRAIL_RECORD_SECTION)))
#else
#define TRAIL_RECORD_ATTRIBUTES
#endif

/* Emit the identity record. `id` is the name as an identifier (a dash becomes
 * an underscore); the exported struct is then trail_KIND_ID, and nothing else
 * is exported. symbolizer.h and sink.h have the wrappers that plugins use. */
#define TRAIL_RECORD_(id, kind_, abi_, table_, shape_, name_, release_, needs_)        \
    extern const struct trail_plugin_record TRAIL_JOIN(trail_record_, id);             \
    TRAIL_RECORD_ATTRIBUTES const struct trail_plugin_record TRAIL_JOIN(trail_record_, \
                                                                        id) = {        \
        sizeof(TRAIL_RECORD_OWNER),                                                    \
        sizeof(struct trail_record_desc),                                              \
        TRAIL_RECORD_NOTE_TYPE,                                                        \
        TRAIL_RECORD_OWNER,                                                            \
        { TRAIL_RECORD_VERSION, kind_, abi_, table_, shape_, needs_, name_, release_ } \
    }

#ifdef __cplusplus
}
#endif

#endif
