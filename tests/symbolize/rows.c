/* rows.c -- every row of a fixture's expected answers, through the resolver and a
 * plugin.
 *
 * usage: symbolize_rows PLUGIN_DIR PLUGIN FIXTURE [SYMBOL_DIR | --vdso]
 * FIXTURE.expect.tsv is described in tests/fixtures/README.md. Exits 1 if a row
 * differs.
 */
#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/pipeline.h"
#include "core/trace/elf.h"

#define FRAME_LIMIT 64
#define CELL_LIMIT  9

struct row {
    char function[512], file[512];
    unsigned line, column;
};

struct expected {
    uint64_t address;
    struct row frames[FRAME_LIMIT];
    size_t count;
};

struct check {
    struct trail_resolver *resolver;
    struct trail_target target;
    const char *aliases; /* contents of x64-icf.aliases.tsv, or NULL */
    const char *name;
    size_t good, bad, frames;
};

/* "." and ".." folded, as the expected files have it. */
static void normalize(const char *path, char *ret, size_t size)
{
    char copy[2048], *parts[256], *save = NULL;
    size_t count = 0, at = 0;
    snprintf(copy, sizeof(copy), "%s", path);
    for (char *part = copy; part && count < 256; part = save) {
        save = strchr(part, '/');
        if (save)
            *save++ = 0;
        if (strcmp(part, "..") == 0 && count && strcmp(parts[count - 1], "..") != 0)
            count--;
        else if (*part && strcmp(part, ".") != 0)
            parts[count++] = part;
    }
    if (path[0] == '/')
        at += (size_t)snprintf(ret + at, size - at, "/");
    for (size_t i = 0; i < count && at < size; i++)
        at += (size_t)snprintf(ret + at, size - at, "%s%s", i ? "/" : "", parts[i]);
    if (at == 0)
        snprintf(ret, size, "?");
}

/* Length without .cold, .part.N, .constprop.N, .isra.N, .lto_priv.N. */
static size_t plain_size(const char *name)
{
    static const char *const suffixes[] = { ".cold", ".part.", ".constprop.", ".isra.",
                                            ".lto_priv." };
    size_t size = strlen(name);
    for (size_t i = 0; i < sizeof(suffixes) / sizeof(suffixes[0]); i++) {
        const char *at = strstr(name, suffixes[i]);
        if (at && (size_t)(at - name) < size)
            size = (size_t)(at - name);
    }
    return size;
}

/* Where there is no linkage name, ours has the scopes in front that other tools leave
 * out: ns::type::name. */
static const char *without_scopes(const char *got, const char *want)
{
    size_t got_size = strlen(got), want_size = strlen(want);
    const char *end = got + got_size - want_size;
    bool scoped = got_size > want_size + 2 && strcmp(end, want) == 0 &&
                  end[-1] == ':' && end[-2] == ':';
    return scoped ? end : got;
}

static bool same_name(const char *want, const char *got)
{
    got = without_scopes(got, want);
    return plain_size(want) == plain_size(got) &&
           strncmp(want, got, plain_size(want)) == 0;
}

/* Split at tabs; the cells are terminated in place. */
static size_t split(char *line, char *cells[CELL_LIMIT])
{
    size_t count = 0;
    while (line && count < CELL_LIMIT) {
        cells[count++] = line;
        line = strchr(line, '\t');
        if (line)
            *line++ = 0;
    }
    return count;
}

/* Folded functions have several right names; the table lists them. */
static bool is_alias(const struct check *check, uint64_t address, const char *function)
{
    char copy[1024];
    snprintf(copy, sizeof(copy), "%s", check->aliases ? check->aliases : "");
    for (char *line = copy, *next; line && *line; line = next) {
        char *cells[CELL_LIMIT]; /* file, start, size, names separated by | */
        next = strchr(line, '\n');
        if (next)
            *next++ = 0;
        if (split(line, cells) < 4 || strcmp(cells[0], check->name) != 0)
            continue;
        uint64_t start = strtoull(cells[1], NULL, 16);
        if (address >= start && address < start + strtoull(cells[2], NULL, 16) &&
            strstr(cells[3], function))
            return true;
    }
    return false;
}

static void found_row(const struct trail_named *named, struct row *row)
{
    char path[1024];
    bool join = named->file[0] && named->file[0] != '/' && named->directory[0];
    snprintf(path, sizeof(path), "%s%s%s", join ? named->directory : "",
             join ? "/" : "", named->file);
    normalize(path, row->file, sizeof(row->file));
    const char *name = named->linkage[0] ? named->linkage : named->function;
    snprintf(row->function, sizeof(row->function), "%s", name[0] ? name : "?");
    row->line = named->line;
    row->column = named->column;
}

static bool same_row(const struct check *check, uint64_t address,
                     const struct row *want, const struct row *got)
{
    bool alias = is_alias(check, address, got->function);
    if (!alias && !same_name(want->function, got->function))
        return false;
    if (alias)
        return true; /* its line is that of either twin */
    bool column = want->column == 0 || want->column == got->column;
    return strcmp(want->file, got->file) == 0 && want->line == got->line && column;
}

static void print_rows(const char *what, const struct row *rows, size_t count)
{
    for (size_t i = 0; i < count; i++)
        printf("    %s %zu: %s %s:%u:%u\n", what, i, rows[i].function, rows[i].file,
               rows[i].line, rows[i].column);
}

static void check_address(struct check *check, const struct expected *expected)
{
    struct trail_arena arena = { 0 };
    struct trail_answer answer;
    struct trail_gap gap;
    struct row got[FRAME_LIMIT];
    size_t count = 0;
    if (trail_resolver_lookup(check->resolver, &check->target, &expected->address, 1,
                              TRAIL_LOOKUP_MANGLED, &arena, &answer, &gap))
        abort();
    for (; count < answer.frame_count && count < FRAME_LIMIT; count++)
        found_row(&answer.frames[count], &got[count]);
    if (count == 0) /* nothing known is what a row of question marks expects */
        got[count++] = (struct row){ .function = "?", .file = "?" };

    bool same = count == expected->count;
    for (size_t i = 0; i < answer.frame_count; i++) /* all but the last are inlined */
        same = same && !(answer.frames[i].flags & TRAIL_FOUND_INLINED) ==
                           (i + 1 == answer.frame_count);
    for (size_t i = 0; same && i < count; i++)
        same = same_row(check, expected->address, &expected->frames[i], &got[i]);
    check->frames += expected->count;
    check->good += same;
    check->bad += !same;
    if (!same) {
        printf("0x%" PRIx64 " (%s)\n", expected->address, gap.reason ? gap.reason : "");
        print_rows("want", expected->frames, expected->count);
        print_rows("got ", got, count);
    }
    trail_arena_deinit(&arena);
}

static void check_table(struct check *check, char *table)
{
    static struct expected expected;
    expected.count = 0;
    for (char *line = table, *next; line && *line; line = next) {
        char *cells[CELL_LIMIT];
        next = strchr(line, '\n');
        if (next)
            *next++ = 0;
        if (line[0] == '#' || split(line, cells) != CELL_LIMIT)
            continue;
        uint64_t address = strtoull(cells[0], NULL, 16);
        if (expected.count && address != expected.address) {
            check_address(check, &expected);
            expected.count = 0;
        }
        struct row *row = &expected.frames[expected.count++];
        expected.address = address;
        snprintf(row->function, sizeof(row->function), "%s", cells[3]);
        snprintf(row->file, sizeof(row->file), "%s", cells[4]);
        row->line = (unsigned)strtoul(cells[5], NULL, 10);
        row->column = (unsigned)strtoul(cells[6], NULL, 10);
    }
    if (expected.count)
        check_address(check, &expected);
}

static void describe(const char *path, const struct trail_os_file *file,
                     struct trail_target *target)
{
    struct trail_elf elf;
    *target = (struct trail_target){ .path = path, .given = true };
    target->module = (struct trail_module){ .size = sizeof(target->module),
                                            .format = TRAIL_FORMAT_ELF,
                                            .path = trail_text_of(path) };
    if (!trail_elf_parse(file->bytes, file->size, &elf))
        return;
    target->module.arch = trail_elf_arch(&elf);
    if (trail_elf_build_id(&elf, &target->module.id))
        target->module.id_kind = TRAIL_ID_BUILD_ID;
}

static char *read_beside(const char *fixture, const char *ending)
{
    char path[1024], *bytes = NULL;
    size_t size;
    struct trail_error err;
    snprintf(path, sizeof(path), "%s%s", fixture, ending);
    return trail_os_file_read(path, 1u << 20, &bytes, &size, &err) ? NULL : bytes;
}

static int usage(void)
{
    fprintf(stderr, "usage: symbolize_rows PLUGIN_DIR PLUGIN FIXTURE "
                    "[SYMBOL_DIR | --vdso]\n");
    return 2;
}

/* As if the file were the vDSO of this process. */
static void pretend_vdso(const struct trail_os_file *file, struct trail_target *target)
{
    target->module.flags |= TRAIL_MODULE_VDSO | TRAIL_MODULE_FROM_MEMORY;
    target->memory = file->bytes;
    target->memory_size = file->size;
    target->given = false;
}

int main(int argc, char **argv)
{
    if (argc < 4)
        return usage();
    bool is_vdso = argc > 4 && strcmp(argv[4], "--vdso") == 0;
    const char *const symbols[] = { argc > 4 && !is_vdso ? argv[4] : NULL, NULL };
    const struct trail_pipeline_options options = { .config_path = "",
                                                    .plugin_path = argv[1],
                                                    .symbol_directories = symbols,
                                                    .only_symbolizer = argv[2] };
    struct trail_pipeline *pipeline = NULL;
    struct trail_error err = { "" };
    struct trail_os_file file;
    const char *fixture = argv[3], *slash = strrchr(fixture, '/');
    struct check check = { .name = slash ? slash + 1 : fixture };
    char *table = read_beside(fixture, ".expect.tsv");

    if (!table || trail_os_file_map(fixture, 1u << 26, &file, &err) ||
        trail_pipeline_create(&options, &pipeline, &err)) {
        fprintf(stderr, "%s: %s\n", fixture, table ? err.text : "no .expect.tsv");
        return 1;
    }
    char aliases[1024];
    snprintf(aliases, sizeof(aliases), "%.*s/x64-icf.aliases.tsv",
             (int)(slash ? slash - fixture : 0), fixture);
    char *alias_table = strstr(check.name, "icf") ? read_beside(aliases, "") : NULL;
    check.aliases = alias_table;
    check.resolver = trail_pipeline_resolver(pipeline, &err);
    describe(fixture, &file, &check.target);
    if (is_vdso)
        pretend_vdso(&file, &check.target);
    if (check.resolver)
        check_table(&check, table);
    printf("%s: %zu of %zu addresses equal\n", check.name, check.good,
           check.good + check.bad);
    trail_os_file_close(&file);
    trail_pipeline_destroy(pipeline, 0);
    free(table);
    free(alias_table);
    return check.bad || !check.good;
}
