/* damage.c -- bytes of the record's files flipped and cut: what was put in is
 * delivered, or told as lost, and nothing is delivered altered.
 */
#define _POSIX_C_SOURCE 200809L

#include "fixture.h"

#include <dirent.h>
#include <sqlite3.h>
#include <sys/stat.h>
#include <unistd.h>

#define EVENTS    120
#define CRASHES   40
#define ALL       (EVENTS + CRASHES)
#define DELIVERED 50 /* events that the sink had before the damage */

#define STRIDE 12 /* places of each file; $BACKTRAIL_STRIDE for more */

/* A record with some entries delivered, some in a batch, some waiting; closed, or as a
 * kill would leave it: copied while it is open, with its logs. */
static void record_make(struct fixture *fixture, bool killed)
{
    char copy[600], command[1400];
    fixture_begin(fixture);
    fixture_open(fixture);
    sink_add(fixture, "hq");
    put(fixture, CRASHES, DELIVERED, TRAIL_CLASS_EVENT);
    done(fixture, "hq", take(fixture, "hq", DELIVERED));
    put(fixture, CRASHES + DELIVERED, EVENTS - DELIVERED, TRAIL_CLASS_EVENT);
    trail_journal_batch_free(take(fixture, "hq", 20));
    put(fixture, 0, CRASHES, TRAIL_CLASS_CRASH);
    if (!killed) {
        fixture_close(fixture);
        return;
    }
    snprintf(copy, sizeof(copy), "%s/copy", fixture->parent);
    snprintf(command, sizeof(command), "cp -r %s %s", fixture->directory, copy);
    assert_int_equal(run(command), 0);
    fixture_close(fixture);
    remove_tree(fixture->directory);
    assert_int_equal(rename(copy, fixture->directory), 0);
}

static void copy_over(const struct fixture *fixture, const struct fixture *to)
{
    char command[1400];
    remove_tree(to->directory);
    snprintf(command, sizeof(command), "cp -r %s %s", fixture->directory,
             to->directory);
    assert_int_equal(run(command), 0);
}

static uint64_t size_of(const char *path)
{
    struct stat st;
    return stat(path, &st) == 0 ? (uint64_t)st.st_size : 0;
}

static void flip(const char *path, uint64_t offset, uint8_t mask)
{
    FILE *file = fopen(path, "r+b");
    assert_non_null(file);
    fseek(file, (long)offset, SEEK_SET);
    int byte = fgetc(file);
    fseek(file, (long)offset, SEEK_SET);
    fputc(byte ^ mask, file);
    fclose(file);
}

/* Entries that a `dropped` entry says were lost to damage, for this sink or for all. */
static size_t told_lost(const struct trail_journal_entry *entry)
{
    char text[1024];
    snprintf(text, sizeof(text), "%.*s", (int)entry->text.size, entry->text.data);
    const char *count = strstr(text, "\"count\":");
    assert_contains(text, "\"reason\":\"damaged\"");
    assert_non_null(count);
    return strtoul(count + 8, NULL, 10);
}

/* Open what was damaged, and account for every entry. */
static void account(struct fixture *fixture, const char *what, uint64_t where)
{
    uint8_t seen[ALL] = { 0 };
    struct trail_journal_batch *batch;
    size_t lost = 0, missing = 0;
    fixture->said[0] = 0;
    fixture_open(fixture);
    sink_add(fixture, "hq");
    while ((batch = take(fixture, "hq", 50))) {
        for (size_t i = 0; i < batch->count; i++) {
            const struct trail_journal_entry *entry = &batch->entries[i];
            if (entry->kind == TRAIL_JOURNAL_DROPPED)
                lost += told_lost(entry);
            else
                entry_check(entry);
            if (entry->kind == TRAIL_JOURNAL_REPORT)
                seen[number_of(entry->id)]++;
        }
        done(fixture, "hq", batch);
    }
    for (size_t i = 0; i < ALL; i++) {
        bool before = i >= CRASHES && i < CRASHES + DELIVERED;
        missing += !before && seen[i] == 0;
    }
    if (missing > lost)
        fail_msg("%s at %llu: %zu are missing, %zu were told\n%s", what,
                 (unsigned long long)where, missing, lost, fixture->said);
    if (lost > missing + DELIVERED) /* more only where it is not known who had what */
        fail_msg("%s at %llu: %zu are missing, %zu were told\n%s", what,
                 (unsigned long long)where, missing, lost, fixture->said);
    put(fixture, ALL, 1, TRAIL_CLASS_CRASH); /* and a fresh one goes through */
    uint8_t fresh[ALL + 1] = { 0 };
    take_all(fixture, "hq", fresh, ALL + 1);
    assert_int_equal(fresh[ALL], 1);
    fixture_close(fixture);
}

/* Call `hurt` at a stride of each file of a record, and account for all. */
static void hurt_all(bool killed, void (*hurt)(const char *path, uint64_t offset))
{
    const char *given = getenv("BACKTRAIL_STRIDE");
    uint64_t stride = given ? strtoul(given, NULL, 10) : STRIDE;
    struct fixture whole, fixture;
    record_make(&whole, killed);
    fixture_begin(&fixture);
    DIR *directory = opendir(whole.directory);
    struct dirent *entry;
    assert_non_null(directory);
    while ((entry = readdir(directory))) {
        char path[900];
        snprintf(path, sizeof(path), "%s/%s", whole.directory, entry->d_name);
        if (entry->d_name[0] == '.' || strcmp(entry->d_name, "reserve") == 0)
            continue;
        uint64_t size = size_of(path);
        uint64_t step = size / stride ? size / stride : 1;
        for (uint64_t at = (step * 7) % (step + 3); at < size; at += step) {
            copy_over(&whole, &fixture);
            snprintf(path, sizeof(path), "%s/%s", fixture.directory, entry->d_name);
            hurt(path, at);
            account(&fixture, entry->d_name, at);
        }
    }
    closedir(directory);
    fixture_end(&fixture);
    fixture_end(&whole);
}

static void flip_one_bit(const char *path, uint64_t offset)
{
    flip(path, offset, (uint8_t)(1u << offset % 8));
}

static void flip_a_byte(const char *path, uint64_t offset)
{
    flip(path, offset, 0xff);
}

static void zero_a_page(const char *path, uint64_t offset)
{
    static const char zeros[4096];
    FILE *file = fopen(path, "r+b");
    assert_non_null(file);
    fseek(file, (long)(offset & ~(uint64_t)4095), SEEK_SET);
    fwrite(zeros, 1, sizeof(zeros), file);
    fclose(file);
}

static void cut(const char *path, uint64_t offset)
{
    assert_int_equal(truncate(path, (off_t)offset), 0);
}

static void flipped_bits_cost_no_entry_that_is_not_told(void **unused)
{
    (void)unused;
    hurt_all(false, flip_one_bit);
}

static void flipped_bytes_after_a_kill_cost_no_entry_that_is_not_told(void **unused)
{
    (void)unused;
    hurt_all(true, flip_a_byte);
}

static void zeroed_pages_cost_no_entry_that_is_not_told(void **unused)
{
    (void)unused;
    hurt_all(false, zero_a_page);
}

static void files_cut_short_cost_no_entry_that_is_not_told(void **unused)
{
    (void)unused;
    hurt_all(false, cut);
    hurt_all(true, cut);
}

static void a_damaged_file_is_put_away_and_said(void **unused)
{
    (void)unused;
    struct fixture fixture;
    char path[600];
    record_make(&fixture, false);
    snprintf(path, sizeof(path), "%s/00000001.db", fixture.directory);
    zero_a_page(path, 0);
    fixture_open(&fixture);
    assert_contains(fixture.said, "00000001.db was damaged");
    assert_contains(fixture.said, "120 entries saved, 0 lost");
    assert_int_equal(files_ending(&fixture, "quarantine", "00000001.db"), 1);
    sink_add(&fixture, "hq");
    assert_int_equal(take_all(&fixture, "hq", NULL, 0), ALL - DELIVERED);
    fixture_end(&fixture);
}

/* Damage that leaves a sound database, with rows that are gone or other than they
 * were. File 1 has the events, of which 50 were delivered and 20 are in a batch. */
static void rows_that_are_gone_or_changed_are_noticed(void **unused)
{
    (void)unused;
    static const char *const changes[] = {
        "DELETE FROM entry WHERE place=100",
        "DELETE FROM entry WHERE place>110",
        "DELETE FROM body WHERE place=100",
        "UPDATE entry SET channel='crash' WHERE place=100",
        "UPDATE share SET cursor=120",
        "DELETE FROM batch WHERE open=1",
        "UPDATE batch SET open=0",
        "UPDATE batch SET places=x'0100000000000000' || x'00000000' WHERE open=1",
    };
    struct fixture whole, fixture;
    record_make(&whole, false);
    fixture_begin(&fixture);
    for (size_t i = 0; i < sizeof(changes) / sizeof(*changes); i++) {
        char path[600];
        sqlite3 *db;
        copy_over(&whole, &fixture);
        snprintf(path, sizeof(path), "%s/00000001.db", fixture.directory);
        assert_int_equal(sqlite3_open(path, &db), SQLITE_OK);
        assert_int_equal(sqlite3_exec(db, changes[i], NULL, NULL, NULL), SQLITE_OK);
        sqlite3_close(db);
        account(&fixture, changes[i], 0);
        assert_contains(fixture.said, "was damaged");
    }
    fixture_end(&fixture);
    fixture_end(&whole);
}

static const struct CMUnitTest tests[] = {
    cmocka_unit_test(rows_that_are_gone_or_changed_are_noticed),
    cmocka_unit_test(flipped_bits_cost_no_entry_that_is_not_told),
    cmocka_unit_test(flipped_bytes_after_a_kill_cost_no_entry_that_is_not_told),
    cmocka_unit_test(zeroed_pages_cost_no_entry_that_is_not_told),
    cmocka_unit_test(files_cut_short_cost_no_entry_that_is_not_told),
    cmocka_unit_test(a_damaged_file_is_put_away_and_said),
};

TRAIL_TEST_MAIN(tests)
