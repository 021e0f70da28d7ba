/* layout.c -- paths of symbol files, by the layouts of symbolizers. */
#include "core/resolve/layout.h"

#include "core/resolve/files.h"

void trail_path_add(struct trail_path *path, const char *bytes, size_t size)
{
    if (size >= sizeof(path->text) - path->size || memchr(bytes, 0, size)) {
        path->bad = true;
        return;
    }
    memcpy(path->text + path->size, bytes, size);
    path->size += size;
    path->text[path->size] = 0;
}

void trail_path_add_string(struct trail_path *path, const char *string)
{
    trail_path_add(path, string, strlen(string));
}

const char *trail_path_base(const char *path)
{
    const char *slash = strrchr(path, '/');
    return slash ? slash + 1 : path;
}

/* One directive of a layout. */
static void add_part(struct trail_path *path, char directive, const char *name,
                     const char *id_hex)
{
    size_t id_size = strlen(id_hex);
    switch (directive) {
    case 'n':
        trail_path_add_string(path, trail_path_base(name));
        break;
    case 'N':
        trail_path_add_string(path, name + strspn(name, "/"));
        break;
    case 'i':
        trail_path_add_string(path, id_hex);
        break;
    case '2':
        trail_path_add(path, id_hex, id_size < 2 ? id_size : 2);
        break;
    case 'r':
        trail_path_add_string(path, id_size < 2 ? "" : id_hex + 2);
        break;
    default:
        path->bad = true;
    }
}

bool trail_layout_path(const char *root, const char *layout, const char *name,
                       struct trail_text id, struct trail_path *path_ret)
{
    char id_hex[2 * 64 + 1];
    trail_hex(id, id_hex, sizeof(id_hex));
    *path_ret = (struct trail_path){ .size = 0 };
    trail_path_add_string(path_ret, root);
    trail_path_add_string(path_ret, "/");
    for (const char *at = layout; *at; at++) {
        bool by_id = *at == '%' && strchr("i2r", at[1]) && at[1];
        bool by_name = *at == '%' && strchr("nN", at[1]) && at[1];
        /* Without the one it goes by, it is the path of a directory. */
        if ((by_id && id.size == 0) || (by_name && !trail_path_base(name)[0]))
            return false;
        if (*at == '%' && at[1])
            add_part(path_ret, *++at, name, id_hex);
        else
            trail_path_add(path_ret, at, 1);
    }
    return !path_ret->bad;
}
