/* fixture.c -- a record in a directory of its own. */
#define _XOPEN_SOURCE 700

#include "fixture.h"

#include <dirent.h>
#include <inttypes.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

void remove_tree(const char *path)
{
    DIR *directory = opendir(path);
    struct dirent *entry;
    while (directory && (entry = readdir(directory))) {
        char below[1024];
        struct stat st;
        if (strcmp(entry->d_name, ".") == 0 || strcmp(entry->d_name, "..") == 0)
            continue;
        snprintf(below, sizeof(below), "%s/%s", path, entry->d_name);
        if (lstat(below, &st) == 0 && S_ISDIR(st.st_mode))
            remove_tree(below);
        else
            unlink(below);
    }
    if (directory)
        closedir(directory);
    rmdir(path);
}

int run(const char *command)
{
    pid_t pid = fork();
    int status = -1;
    if (pid == 0) {
        execl("/bin/sh", "sh", "-c", command, (char *)NULL);
        _exit(127);
    }
    if (pid > 0)
        waitpid(pid, &status, 0);
    return status;
}

static void heard(void *arg, const char *line)
{
    struct fixture *fixture = arg;
    size_t size = strlen(fixture->said);
    snprintf(fixture->said + size, sizeof(fixture->said) - size, "%s\n", line);
}

void fixture_begin(struct fixture *fixture)
{
    *fixture = (struct fixture){ .journal = NULL };
    /* In memory where that can be: these tests are about what is written, and wait for
     * a disk hundreds of times otherwise. */
    snprintf(fixture->parent, sizeof(fixture->parent), "/dev/shm/trail-journal-XXXXXX");
    if (!mkdtemp(fixture->parent)) {
        snprintf(fixture->parent, sizeof(fixture->parent), "/tmp/trail-journal-XXXXXX");
        assert_non_null(mkdtemp(fixture->parent));
    }
    snprintf(fixture->directory, sizeof(fixture->directory), "%.200s/record",
             fixture->parent);
}

void fixture_close(struct fixture *fixture)
{
    trail_journal_close(fixture->journal);
    fixture->journal = NULL;
}

void fixture_open(struct fixture *fixture)
{
    struct trail_error err = { "" };
    fixture_close(fixture);
    assert_ok_err(trail_journal_open(fixture->directory, &fixture->limits, heard,
                                     fixture, &fixture->journal, &err),
                  err);
}

void fixture_end(struct fixture *fixture)
{
    fixture_close(fixture);
    remove_tree(fixture->parent);
}

struct trail_journal_entry entry_of(uint64_t number, uint32_t class_, char text[256])
{
    struct trail_journal_entry entry = {
        .class_ = class_,
        .kind = TRAIL_JOURNAL_REPORT,
        .revision = 1,
        .channel = class_ == TRAIL_CLASS_CRASH ? "crash" : "report",
        .app = "orders",
        .uid = 1000,
    };
    snprintf(entry.id, sizeof(entry.id), "%032" PRIx64, number);
    int size = snprintf(text, 256,
                        "{\"id\":\"%032" PRIx64 "\",\"number\":%" PRIu64
                        ",\"square\":%" PRIu64 "}",
                        number, number, number * number);
    entry.text = (struct trail_text){ text, (size_t)size };
    return entry;
}

uint64_t number_of(const char *id)
{
    return strtoull(id + 16, NULL, 16);
}

void put(struct fixture *fixture, uint64_t first, size_t count, uint32_t class_)
{
    struct trail_error err = { "" };
    struct trail_journal_entry entries[64];
    char texts[64][256];
    for (size_t at = 0; at < count; at += 64) {
        size_t some = count - at < 64 ? count - at : 64;
        for (size_t i = 0; i < some; i++)
            entries[i] = entry_of(first + at + i, class_, texts[i]);
        assert_ok_err(trail_journal_append(fixture->journal, entries, some, &err), err);
        for (size_t i = 0; i < some; i++)
            assert_true(entries[i].seq != 0 && !entries[i].repeat);
    }
}

struct trail_journal_batch *take(struct fixture *fixture, const char *sink,
                                 size_t count)
{
    struct trail_error err = { "" };
    struct trail_journal_batch_limits limits = { count, 1 << 20 };
    struct trail_journal_batch *batch = NULL;
    enum trail_status status =
        trail_journal_batch_next(fixture->journal, sink, &limits, &batch, &err);
    if (status == TRAIL_NOT_FOUND)
        return NULL;
    assert_ok_err(status, err);
    return batch;
}

void done(struct fixture *fixture, const char *sink, struct trail_journal_batch *batch)
{
    struct trail_error err = { "" };
    struct trail_journal_try how = { .status = TRAIL_OK };
    assert_ok_err(
        trail_journal_batch_end(fixture->journal, sink, batch, &how, NULL, &err), err);
}

void entry_check(const struct trail_journal_entry *got)
{
    char text[256];
    uint64_t number = number_of(got->id);
    struct trail_journal_entry put_in = entry_of(number, got->class_, text);
    assert_int_equal(got->text.size, put_in.text.size);
    assert_memory_equal(got->text.data, put_in.text.data, put_in.text.size);
    assert_string_equal(got->channel, put_in.channel);
    assert_string_equal(got->app, "orders");
}

size_t take_all(struct fixture *fixture, const char *sink, uint8_t *seen, size_t room)
{
    struct trail_journal_batch *batch;
    size_t count = 0;
    while ((batch = take(fixture, sink, 50))) {
        for (size_t i = 0; i < batch->count; i++) {
            const struct trail_journal_entry *entry = &batch->entries[i];
            if (entry->kind != TRAIL_JOURNAL_REPORT)
                continue;
            entry_check(entry);
            count++;
            if (seen && number_of(entry->id) < room)
                seen[number_of(entry->id)]++;
        }
        done(fixture, sink, batch);
    }
    return count;
}

void sink_add(struct fixture *fixture, const char *name)
{
    struct trail_journal_sink sink = { .name = name };
    assert_ok(trail_journal_sink_add(fixture->journal, &sink, NULL));
}

struct trail_journal_sink_stat sink_stat(struct fixture *fixture, const char *name)
{
    struct trail_journal_sink_stat stat;
    for (size_t i = 0; trail_journal_sink_stat(fixture->journal, i, &stat); i++)
        if (strcmp(stat.name, name) == 0)
            return stat;
    fail_msg("no sink %s", name);
    return stat;
}

struct trail_journal_stat stat_of(struct fixture *fixture)
{
    struct trail_journal_stat stat;
    trail_journal_stat(fixture->journal, &stat);
    return stat;
}

size_t files_ending(const struct fixture *fixture, const char *below,
                    const char *ending)
{
    char path[600];
    size_t count = 0;
    snprintf(path, sizeof(path), "%s/%s", fixture->directory, below);
    DIR *directory = opendir(path);
    struct dirent *entry;
    while (directory && (entry = readdir(directory))) {
        size_t size = strlen(entry->d_name), end = strlen(ending);
        count += size >= end && strcmp(entry->d_name + size - end, ending) == 0;
    }
    if (directory)
        closedir(directory);
    return count;
}
