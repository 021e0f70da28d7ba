/* symbolizer.h -- the only header a symbolizer plugin includes.
 *
 * A symbolizer turns addresses inside one module into functions, files, lines
 * and chains of inlined calls. It never sees a process, a thread or a sink; it
 * is given bytes, so that it works in a sandbox, on another machine and under
 * a fuzzer alike. To write one, copy plugins/wasi-null and run
 * `ctest -R contract`.
 *
 * Addresses: link-time (load bias removed) and already lookup addresses: where
 * an address follows a call the host has taken 1 off. A plugin never does.
 * Threads:   create and destroy run alone; calls on different images may run
 *            at once, calls on one image do not, but parts of enumerate may.
 * Signals:   never called from a signal handler; allocating and blocking are fine.
 * Ownership: nothing changes hands. What a plugin is given, and what it hands
 *            to a callback, is lent until that call returns, except sources:
 *            those given to open() stay valid until close() of that image.
 * Growth:    signatures never change; structs grow at the end (see base.h). A
 *            NULL slot means "cannot"; an unknown flag is ignored, an unknown
 *            status is a failure.
 */
#ifndef BACKTRAIL_SYMBOLIZER_H
#define BACKTRAIL_SYMBOLIZER_H

#include "backtrail/base.h"

#ifdef __cplusplus
extern "C" {
#endif

#define TRAIL_SYMBOLIZER_ABI 1
/* Hash of this file's declarations; tests/lint/shape.sh keeps it true. */
#define TRAIL_SYMBOLIZER_SHAPE 0x2c7c017bu

enum trail_format {
    TRAIL_FORMAT_UNKNOWN,
    TRAIL_FORMAT_ELF,
    TRAIL_FORMAT_MACHO,
    TRAIL_FORMAT_PE,
    TRAIL_FORMAT_WASM,
    TRAIL_FORMAT_JIT,
};

enum trail_arch {
    TRAIL_ARCH_UNKNOWN,
    TRAIL_ARCH_X86_64,
    TRAIL_ARCH_X86,
    TRAIL_ARCH_AARCH64,
    TRAIL_ARCH_ARM,
    TRAIL_ARCH_RISCV64,
    TRAIL_ARCH_S390X,
    TRAIL_ARCH_PPC,
    TRAIL_ARCH_PPC64,
    TRAIL_ARCH_WASM32,
};

enum trail_id_kind {
    TRAIL_ID_NONE,
    TRAIL_ID_BUILD_ID,  /* NT_GNU_BUILD_ID */
    TRAIL_ID_UUID,      /* LC_UUID */
    TRAIL_ID_GUID_AGE,  /* RSDS record */
    TRAIL_ID_TEXT_HASH, /* hash of program headers and first text, where there is no id
                         */
};

enum trail_module_flags {
    TRAIL_MODULE_FROM_MEMORY =
        1, /* read from a live process's memory, not from a file */
    TRAIL_MODULE_VDSO = 2,
    TRAIL_MODULE_ID_UNVERIFIED = 4,
};

/* One mapped image. Filled by the host. */
struct trail_module {
    uint32_t size, format, arch, id_kind, flags;
    struct trail_text
        path; /* as the process saw it; for messages and layouts, not to open */
    struct trail_text
        id; /* raw bytes, empty if none; compared by the host, never by a plugin */
    uint64_t link_start, link_end; /* extent at link time; 0, 0 if unknown */
};

enum trail_role {
    TRAIL_ROLE_IMAGE = 1, /* the module itself */
    TRAIL_ROLE_DEBUG,     /* its separate debug file */
    TRAIL_ROLE_ALT,       /* dwz common file (.gnu_debugaltlink) */
    TRAIL_ROLE_DWO,
    TRAIL_ROLE_DWP,
    TRAIL_ROLE_DSYM,
    TRAIL_ROLE_PDB,
    TRAIL_ROLE_PERF_MAP,
    TRAIL_ROLE_OTHER,
};

/* How the host came by a file. In the order in which routes are tried. */
enum trail_route {
    TRAIL_ROUTE_NONE,
    TRAIL_ROUTE_GIVEN,        /* named on the command line */
    TRAIL_ROUTE_SYMBOLS_DIR,  /* --symbols, or symbols.directories */
    TRAIL_ROUTE_EMBEDDED,     /* the module itself */
    TRAIL_ROUTE_MEMORY,       /* the module itself, from memory */
    TRAIL_ROUTE_DEBUG_LINK,   /* beside the module, by the name it gives */
    TRAIL_ROUTE_BUILD_ID_DIR, /* .build-id/xx/yyyy.debug */
    TRAIL_ROUTE_STORE,
    TRAIL_ROUTE_DEBUGINFOD,
};

/* Bytes of one file, found and verified by the host. */
struct trail_source {
    uint32_t size, role, route;
    int fd; /* -1 if there is only memory; borrowed, never closed by the plugin */
    const uint8_t *bytes; /* mapped read-only; NULL if there is only fd */
    uint64_t bytes_size;
    struct trail_text name; /* a path, for messages only */
    void *handle;           /* the host's own */
};

static inline const struct trail_source *trail_source_at(
    const struct trail_source *sources, size_t index)
{
    return (const struct trail_source *)trail_sized_at(sources, index);
}

/* A companion file that a plugin found mentioned inside a source. */
struct trail_want {
    uint32_t size, role;
    struct trail_text name; /* as written in the file, e.g. of .gnu_debuglink */
    struct trail_text id;   /* the id that it must have; empty: not known */
    uint32_t crc; /* CRC-32 that it must have if `has_crc` and there is no id */
    uint32_t has_crc;
    const struct trail_source *from; /* the source that mentions it */
};

/* New for each call: how long it may take, and how to ask the host. */
struct trail_call {
    uint32_t size;
    uint32_t threads;     /* how many threads the plugin may use, at least 1 */
    uint64_t deadline_ns; /* CLOCK_MONOTONIC; 0: none */
    void *host;
    /* Nonzero: return TRAIL_CANCELLED soon. Cheap; ask every 64 KiB of input. */
    int (*stop)(void *host);
    void (*log)(void *host, int level, struct trail_text text);
    /* Fetch a companion. TRAIL_NOT_FOUND: nowhere; TRAIL_REFUSED: found, but
     * another id or CRC. Release it, or let close() of the image do so. */
    enum trail_status (*find)(void *host, const struct trail_want *want,
                              struct trail_source *source_ret);
    void (*release)(void *host, struct trail_source *source);
    /* Copy from the live process the module is mapped in; NULL: offline. */
    enum trail_status (*read)(void *host, uint64_t link_address, void *to, size_t size);
};

enum trail_found_flags {
    TRAIL_FOUND_INLINED = 1,     /* the next one emitted for this index is its caller */
    TRAIL_FOUND_FROM_SYMTAB = 2, /* name from a symbol table, no debug information */
    TRAIL_FOUND_LINE_NEAREST =
        4, /* the address has no line; the nearest before it is given */
    TRAIL_FOUND_FOLDED = 8, /* several functions share this code; see aka */
    TRAIL_FOUND_NO_LINE_TABLE = 16,
    TRAIL_FOUND_UNSIZED = 32, /* symbol without size: nearest before the address */
    TRAIL_FOUND_LINKAGE_OF_SYMBOL = 64, /* no debug information gives `linkage` */
    /* `symbol` names the function, and the first of `aka` is before it in the table. */
    TRAIL_FOUND_AKA_FIRST = 128,
};

/* One call at addresses[index]. A chain is emitted innermost first, without a
 * gap, and one plugin answers all of it. */
struct trail_found {
    uint32_t size, index, flags;
    uint32_t line, column, discriminator; /* counted from 1; 0: unknown */
    uint64_t function_start,
        function_size;          /* link-time address and bytes; 0: unknown */
    struct trail_text function; /* as the source has it, not demangled */
    struct trail_text linkage;  /* mangled name, if another than `function` */
    struct trail_text file;     /* as it was named to the compiler */
    struct trail_text
        directory; /* compilation directory; `file` may be relative to it */
    struct trail_text
        symbol;            /* symbol-table name that covers the address, e.g. f.cold */
    struct trail_text aka; /* other names of the same code, separated by newlines */
    uint32_t source_route; /* enum trail_route of the source that answered */
    uint32_t scope_size;   /* bytes of `function` that are scopes: "ns::type::" */
    struct trail_text source; /* its name */
};

typedef enum trail_status trail_emit_fn(void *arg, const struct trail_found *found);

/* enumerate() and calls() write here. Ids are the plugin's own, dense from 1 within a
 * part, so that each string is sent once; 0 is none. What refers to an id comes behind
 * it: a scope behind its parent, a range behind its scope. */
struct trail_map_out {
    uint32_t size;
    void *arg;
    enum trail_status (*file)(void *arg, uint32_t id, struct trail_text file,
                              struct trail_text directory);
    enum trail_status (*function)(void *arg, uint32_t id, struct trail_text name,
                                  struct trail_text linkage, uint64_t start,
                                  uint64_t bytes);
    enum trail_status (*scope)(void *arg, uint32_t id, uint32_t parent,
                               uint32_t function, uint32_t call_file,
                               uint32_t call_line, uint32_t call_column);
    enum trail_status (*range)(void *arg, uint64_t start, uint64_t end, uint32_t scope,
                               uint32_t file, uint32_t line, uint32_t column);
    /* A call made by the instruction before `return_address`. `target` is 0 where only
     * the name of what is called is known. */
    enum trail_status (*call)(void *arg, uint64_t return_address, uint64_t target,
                              struct trail_text target_linkage, int tail);
    /* What the symbol table says of [start, end), in any order; the same may be said
     * again. Of those that hold an address that which starts last names it, and of
     * these the shortest. `flags`: enum trail_found_flags. */
    enum trail_status (*symbol)(void *arg, uint64_t start, uint64_t end,
                                struct trail_text name, struct trail_text aka,
                                uint32_t flags);
};

struct trail_symbolizer {
    uint32_t abi, size;
    const struct trail_option_spec *options;
    uint32_t option_count, option_stride;
    /* Where companion files of this kind lie, NULL-terminated. %n: file name,
     * %N: path without leading /, %i: id in hex, %2 and %r: its first two
     * digits and the rest. E.g. ".build-id/%2/%r.debug". May be NULL. */
    const char *const *layouts;

    /* 1 if modules of this kind are this plugin's business. Pure. */
    int (*reads)(const struct trail_module *module);

    /* Make a state. TRAIL_BAD_INPUT names the option at fault in `err`. */
    enum trail_status (*create)(const struct trail_call *call,
                                const struct trail_options *options, void **state_ret,
                                struct trail_error *err);
    void (*destroy)(void *state); /* NULL is fine */

    /* Open a module. TRAIL_NOT_FOUND: not mine, or nothing in it to read. */
    enum trail_status (*open)(void *state, const struct trail_call *call,
                              const struct trail_module *module,
                              const struct trail_source *sources, size_t count,
                              void **image_ret, struct trail_error *err);
    void (*close)(void *image); /* NULL is fine */

    /* Emit what is known of each address, in order of index. An address of
     * which nothing is known is not emitted; that is TRAIL_OK. If emit returns
     * anything but TRAIL_OK, stop and return it. */
    enum trail_status (*resolve)(void *image, const struct trail_call *call,
                                 const uint64_t *addresses, size_t count,
                                 trail_emit_fn *emit, void *arg,
                                 struct trail_error *err);

    /* Write part `part` of `parts` of all that is known of the module. */
    enum trail_status (*enumerate)(void *image, const struct trail_call *call,
                                   uint32_t part, uint32_t parts,
                                   struct trail_map_out *out, struct trail_error *err);

    /* A return address gives the call made there, a function start its tail calls. */
    enum trail_status (*calls)(void *image, const struct trail_call *call,
                               const uint64_t *addresses, size_t count,
                               struct trail_map_out *out, struct trail_error *err);
};

/* Once per plugin, at the end of its file:
 *
 *     TRAIL_SYMBOLIZER(wasi_null, "wasi-null", "1.0.0", 0) = {
 *         .abi = TRAIL_SYMBOLIZER_ABI, .size = sizeof(struct trail_symbolizer), ...
 *     };
 */
#define TRAIL_SYMBOLIZER(id, name, release, needs)                                     \
    TRAIL_RECORD_(id, TRAIL_KIND_SYMBOLIZER, TRAIL_SYMBOLIZER_ABI,                     \
                  sizeof(struct trail_symbolizer), TRAIL_SYMBOLIZER_SHAPE, name,       \
                  release, needs);                                                     \
    extern TRAIL_EXPORT const struct trail_symbolizer TRAIL_JOIN(trail_symbolizer_,    \
                                                                 id);                  \
    TRAIL_EXPORT const struct trail_symbolizer TRAIL_JOIN(trail_symbolizer_, id)

#ifdef __cplusplus
}
#endif

#endif
