/* write.c -- man pages and completions as files, as an installation has them. */
#define _POSIX_C_SOURCE 200809L

#include "agent/help/help.h"

#include <errno.h>
#include <stdlib.h>

#include "core/os/os.h"

#define PATH_SIZE 4096

/* A page that is being made, in memory: nobody sees half of one. */
struct page {
    char *text;
    size_t size;
    FILE *to;
};

static bool page_open(struct page *page)
{
    *page = (struct page){ 0 };
    page->to = open_memstream(&page->text, &page->size);
    if (!page->to)
        failure("%s", strerror(errno));
    return page->to != NULL;
}

/* Put the page below `directory` unless it failed; returns an exit code. */
static int page_close(struct page *page, int exit_code, const char *directory,
                      const char *folder, const char *name)
{
    char path[PATH_SIZE];
    struct trail_error err;
    bool bad = ferror(page->to) != 0;
    bad = fclose(page->to) != 0 || bad;
    int length = snprintf(path, sizeof(path), "%s/%s", directory, folder);
    if (exit_code)
        ; /* told already */
    else if (bad || length < 0 || (size_t)length + strlen(name) + 2 > sizeof(path))
        exit_code = failure("%s: the path is too long, or memory is short", directory);
    else if (trail_os_directory_make(path, 0755, &err))
        exit_code = failure("%s", err.text);
    else {
        snprintf(path + length, sizeof(path) - (size_t)length, "/%s", name);
        if (trail_os_file_write(path, page->text, page->size, 0644, &err))
            exit_code = failure("%s", err.text);
    }
    free(page->text);
    return exit_code;
}

/* Shells look for what completes a command by the command's name, but for zsh, where a
 * file says itself what it is for. */
static int write_completions(const char *directory)
{
    static const struct {
        void (*print)(FILE *to);
        const char *folder, *name;
    } files[] = {
        { completion_print_bash, "bash-completion/completions", "backtrail" },
        { completion_print_bash, "bash-completion/completions", "backtrail-addr2line" },
        { completion_print_zsh, "zsh/site-functions", "_backtrail" },
        { completion_print_fish, "fish/vendor_completions.d", "backtrail.fish" },
        { completion_print_fish_link, "fish/vendor_completions.d",
          "backtrail-addr2line.fish" },
    };
    int exit_code = EXIT_DONE;
    struct page page;
    for (size_t i = 0; i < sizeof(files) / sizeof(files[0]) && !exit_code; i++) {
        if (!page_open(&page))
            return EXIT_FAILED;
        files[i].print(page.to);
        exit_code =
            page_close(&page, EXIT_DONE, directory, files[i].folder, files[i].name);
    }
    return exit_code;
}

static int write_verbs(const char *directory)
{
    char name[128];
    int exit_code = EXIT_DONE;
    struct page page;
    for (const struct verb *const *verb = verbs; *verb && !exit_code; verb++) {
        snprintf(name, sizeof(name), "backtrail-%s.1", (*verb)->name);
        if (!page_open(&page))
            return EXIT_FAILED;
        man_print(page.to, *verb);
        exit_code = page_close(&page, EXIT_DONE, directory, "man/man1", name);
    }
    if (exit_code || !page_open(&page))
        return EXIT_FAILED;
    man_print_overview(page.to);
    return page_close(&page, EXIT_DONE, directory, "man/man1", "backtrail.1");
}

int help_write_all(const char *directory, const struct shared_options *shared)
{
    struct page page;
    if (write_completions(directory) || write_verbs(directory) || !page_open(&page))
        return EXIT_FAILED;
    int exit_code = man_print_config(page.to, shared);
    return page_close(&page, exit_code, directory, "man/man5", "backtrail-config.5");
}
