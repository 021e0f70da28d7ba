/* program.c -- a program that `run` was given: where it is, and what it is. */
#include "agent/run/program.h"

#include <stdlib.h>

#include "agent/options.h"
#include "core/os/run.h"
#include "core/trace/elf_tables.h"

#define EXIT_NOT_RUNNABLE 126
#define EXIT_NO_PROGRAM   127

#define FILE_SIZE_LIMIT ((size_t)4 << 30)
/* Interpreters that are scripts themselves, one after the other. */
#define SCRIPT_LIMIT 4
/* What the system has for programs that have no PATH. */
#define DEFAULT_PATH "/usr/local/bin:/usr/bin:/bin"

/* ---- finding ------------------------------------------------------------ */

static bool is_there(const char *path)
{
    struct trail_os_stat stat;
    return !trail_os_stat_path(path, &stat, NULL) && stat.regular;
}

/* `name` in the directory that `size` bytes of `directory` name; "": the current
 * one. */
static bool find_in(const char *directory, size_t size, const char *name,
                    struct program *program)
{
    int length = snprintf(program->path, sizeof(program->path), "%.*s%s%s", (int)size,
                          directory, size ? "/" : "", name);
    return length > 0 && (size_t)length < sizeof(program->path) &&
           trail_os_runnable(program->path).may_run;
}

static bool find_on_path(const char *name, struct program *program)
{
    const char *path = trail_os_environment("PATH");
    for (const char *at = path ? path : DEFAULT_PATH;;) {
        size_t size = strcspn(at, ":");
        if (find_in(at, size, name, program))
            return true;
        if (!at[size])
            return false;
        at += size + 1;
    }
}

/* ---- what it is --------------------------------------------------------- */

/* The library of an address or thread sanitizer ends the program if another comes
 * before it. The loader knows where it is. */
static void find_first(const struct trail_elf *elf, struct program *program)
{
    static const char *const names[] = { "libasan.so.", "libtsan.so.",
                                         "libhwasan.so." };
    struct trail_text strings;
    if (!trail_elf_section(elf, ".dynstr", &strings))
        return;
    for (size_t at = 0; at < strings.size;) {
        const char *name = strings.data + at;
        const char *end = memchr(name, 0, strings.size - at);
        if (!end)
            return;
        for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
            if (strncmp(name, names[i], strlen(names[i])) == 0)
                snprintf(program->first, sizeof(program->first), "%s", name);
        at += (size_t)(end - name) + 1;
    }
}

static uint32_t word_size(void)
{
    return sizeof(void *) == 8 ? 1 : 0;
}

/* Why no library can be loaded into it. */
static const char *closed_by(const struct trail_elf *elf)
{
    struct trail_elf_segment segment;
    if (trail_elf_arch(elf) != trail_os_arch() || elf->is64 != word_size())
        return "it is for another kind of machine than backtrail";
    if (!trail_elf_segment_of(elf, TRAIL_ELF_INTERPRETER, &segment))
        return "it is linked statically";
    return NULL;
}

/* The path after "#!". False: it is no script. */
static bool read_interpreter(const struct trail_os_file *file, char *path_ret,
                             size_t size)
{
    const char *text = (const char *)file->bytes;
    size_t at = 2, length = 0;
    if (file->size < 3 || text[0] != '#' || text[1] != '!')
        return false;
    while (at < file->size && (text[at] == ' ' || text[at] == '\t'))
        at++;
    while (at + length < file->size && !strchr(" \t\r\n", text[at + length]))
        length++;
    if (!length || length >= size)
        return false;
    memcpy(path_ret, text + at, length);
    path_ret[length] = 0;
    return true;
}

/* Look at the file at `path`, and at its interpreter. */
static void look(const char *path, struct program *program)
{
    char at[PROGRAM_PATH_SIZE];
    snprintf(at, sizeof(at), "%s", path);
    for (unsigned i = 0; i < SCRIPT_LIMIT; i++) {
        struct trail_os_file file;
        struct trail_elf elf;
        if (trail_os_runnable(at).changes_user) {
            program->closed = "it runs as another user";
            return;
        }
        if (trail_os_file_map(at, FILE_SIZE_LIMIT, &file, NULL))
            return; /* it may be run and not read: the loader is asked to */
        bool is_script = read_interpreter(&file, at, sizeof(at));
        if (!is_script && trail_elf_parse(file.bytes, file.size, &elf)) {
            program->closed = closed_by(&elf);
            find_first(&elf, program);
        }
        trail_os_file_close(&file);
        if (!is_script)
            return;
    }
}

int program_find(const char *name, struct program *program_ret)
{
    memset(program_ret, 0, sizeof(*program_ret));
    bool has_slash = strchr(name, '/') != NULL;
    bool found =
        has_slash ? find_in("", 0, name, program_ret) : find_on_path(name, program_ret);
    if (!found && has_slash && is_there(name)) {
        failure("%s: may not be run; chmod +x it", name);
        return EXIT_NOT_RUNNABLE;
    }
    if (!found) {
        failure("%s: there is no such program%s", name, has_slash ? "" : " in PATH");
        return EXIT_NO_PROGRAM;
    }
    look(program_ret->path, program_ret);
    return 0;
}

/* ---- the library -------------------------------------------------------- */

#define LIBRARY "libbacktrail-preload.so"

static bool find_library(char *path_ret, size_t size)
{
    const char *given = trail_os_environment("BACKTRAIL_PRELOAD");
    char own[PROGRAM_PATH_SIZE], at[PROGRAM_PATH_SIZE + sizeof(LIBRARY) + 256];
    if (given && given[0])
        return trail_os_path_real(given, path_ret, size);
    trail_os_own_directory(own, sizeof(own));
    const char *const beside[] = { ("../" BACKTRAIL_LIB_SUBDIR), "../preload", "." };
    for (size_t i = 0; own[0] && i < sizeof(beside) / sizeof(beside[0]); i++) {
        snprintf(at, sizeof(at), "%s/%s/" LIBRARY, own, beside[i]);
        if (trail_os_path_real(at, path_ret, size))
            return true;
    }
    return trail_os_path_real(BACKTRAIL_LIB_DIR "/" LIBRARY, path_ret, size);
}

bool program_preload(char *path_ret, size_t size)
{
    if (!find_library(path_ret, size)) {
        failure(LIBRARY ": is neither beside this program nor in " BACKTRAIL_LIB_DIR
                        "; set BACKTRAIL_PRELOAD to where it is");
        return false;
    }
    if (strpbrk(path_ret, ": \t\n")) {
        failure("%s: the loader takes no such name; set BACKTRAIL_PRELOAD to a path "
                "without spaces and colons",
                path_ret);
        return false;
    }
    return true;
}
