/* tree.c -- a folder of symbol files that a test has to itself. */
#define _XOPEN_SOURCE 700

#include "tree.h"

#include <ftw.h>
#include <sys/stat.h>
#include <unistd.h>

#include "core/trace/elf.h"

#define FIXTURES   TEST_SOURCE_DIR "/tests/fixtures/elf/"
#define SIZE_LIMIT ((size_t)1 << 20) /* of a fixture */

static char *read_all(const char *path, size_t *size_ret)
{
    FILE *from = fopen(path, "rb");
    char *bytes = malloc(SIZE_LIMIT);
    if (!from)
        print_error("%s\n", path);
    assert_non_null(from);
    assert_non_null(bytes);
    *size_ret = fread(bytes, 1, SIZE_LIMIT, from);
    fclose(from);
    return bytes;
}

const char *tree_path(const struct tree *tree, const char *below)
{
    static char path[512];
    snprintf(path, sizeof(path), "%s/%s", tree->root, below);
    return path;
}

static void change(char *bytes, size_t size, const char *from, const char *into)
{
    size_t length = strlen(from);
    assert_int_equal(length, strlen(into));
    for (size_t i = 0; length && i + length <= size; i++)
        if (memcmp(bytes + i, from, length) == 0)
            memcpy(bytes + i, into, length);
}

const char *tree_put_changed(struct tree *tree, const char *fixture, const char *to,
                             const char *from, const char *into)
{
    static char path[512];
    char fixture_path[512];
    size_t size;
    snprintf(fixture_path, sizeof(fixture_path), "%s%s", FIXTURES, fixture);
    char *bytes = read_all(fixture_path, &size);
    change(bytes, size, from, into);
    snprintf(path, sizeof(path), "%s", tree_path(tree, to));
    for (char *at = path + strlen(tree->root) + 1; (at = strchr(at, '/')); at++) {
        *at = 0;
        mkdir(path, 0755);
        *at = '/';
    }
    FILE *file = fopen(path, "wb");
    assert_non_null(file);
    assert_int_equal(fwrite(bytes, 1, size, file), size);
    fclose(file);
    free(bytes);
    return path;
}

const char *tree_put(struct tree *tree, const char *fixture, const char *to)
{
    return tree_put_changed(tree, fixture, to, "", "");
}

int tree_make(void **state)
{
    struct tree *tree = calloc(1, sizeof(*tree));
    struct trail_elf elf;
    struct trail_text id, link;
    size_t size;
    if (!tree)
        return -1;
    *state = tree;
    snprintf(tree->root, sizeof(tree->root), "/tmp/trail-routes-XXXXXX");
    if (!mkdtemp(tree->root))
        return -1;
    snprintf(tree->path, sizeof(tree->path), "%s",
             tree_put(tree, TREE_LINKED, "app/prog"));
    char *bytes = read_all(tree->path, &size);
    if (!trail_elf_parse((uint8_t *)bytes, size, &elf) ||
        !trail_elf_build_id(&elf, &id) || id.size > sizeof(tree->id) ||
        !trail_elf_section(&elf, ".gnu_debuglink", &link))
        return -1;
    memcpy(tree->id, id.data, id.size);
    /* These fixtures are little-endian. */
    memcpy(&tree->crc, link.data + link.size - 4, 4);
    tree->key = (struct trail_text){ (char *)tree->id, id.size };
    free(bytes);
    return 0;
}

static int remove_one(const char *path, const struct stat *st, int type,
                      struct FTW *ftw)
{
    (void)st, (void)type, (void)ftw;
    return remove(path);
}

int tree_remove(void **state)
{
    struct tree *tree = *state;
    trail_symbol_file_close(tree->file);
    int failed = nftw(tree->root, remove_one, 16, FTW_DEPTH | FTW_PHYS);
    free(tree);
    return failed;
}

const char *tree_found(struct tree *tree)
{
    static char name[1024];
    snprintf(name, sizeof(name), "%s",
             tree->file ? tree->file->path + strlen(tree->root) + 1 : "");
    trail_symbol_file_close(tree->file);
    tree->file = NULL;
    return name;
}
