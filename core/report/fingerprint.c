/* fingerprint.c -- telling equal reports from different ones. */
#include <stdlib.h>

#include "core/report/report.h"
#include "core/resolve/linkage.h"

#define GROUP_FRAMES                                                                   \
    8 /* own functions that make a group: enough to tell, few to drift */

struct hash {
    uint64_t value;
};

/* FNV-1a, 64 bits, with a separator so that "ab","c" and "a","bc" differ. */
static void hash_add(struct hash *hash, const void *bytes, size_t size)
{
    const uint8_t *at = bytes;
    for (size_t i = 0; i < size; i++)
        hash->value = (hash->value ^ at[i]) * 0x100000001b3u;
    hash->value = (hash->value ^ 0xff) * 0x100000001b3u;
}

static void hash_text(const struct hash *hash, char text_ret[17])
{
    snprintf(text_ret, 17, "%016llx", (unsigned long long)hash->value);
}

const struct trail_resolved_thread *trail_report_subject(
    const struct trail_resolved *resolved)
{
    for (size_t i = 0; i < resolved->thread_count; i++)
        if (resolved->threads[i].thread->crashed)
            return &resolved->threads[i];
    return resolved->thread_count ? &resolved->threads[0] : NULL;
}

/* True if the bracket at `at` is neither that of operator() itself nor that of
 * "a::(anonymous namespace)". */
static bool begins_arguments(const char *function, size_t at)
{
    static const char call[] = "operator";
    size_t size = sizeof(call) - 1;
    if (at == 0 || function[at - 1] == ':')
        return false;
    if (at < size || memcmp(function + at - size, call, size) != 0)
        return true;
    return at > size && function[at - size - 1] != ':' &&
           function[at - size - 1] != ' ';
}

size_t trail_name_undecorated(const char *function, char *name_ret, size_t size)
{
    /* Drop "[clone .cold]" and arguments; keep operator() whole. */
    size_t length = strlen(function);
    const char *clone = strstr(function, " [clone");
    if (clone)
        length = (size_t)(clone - function);
    size_t depth = 0, end = length;
    for (size_t i = length; i-- > 0;) {
        if (function[i] == ')' || function[i] == '>')
            depth++;
        else if ((function[i] == '(' || function[i] == '<') && depth)
            depth--;
        if (depth == 0 && function[i] == '(' && begins_arguments(function, i)) {
            end = i;
            break;
        }
    }
    end = trail_linkage_unsuffixed(function, end);
    if (size) {
        size_t kept = end < size ? end : size - 1;
        memcpy(name_ret, function, kept);
        name_ret[kept] = 0;
    }
    return end;
}

static void add_exact(struct hash *hash, const struct trail_frame *frame)
{
    uint64_t offset = frame->offset;
    if (frame->module_id[0])
        hash_add(hash, frame->module_id, strlen(frame->module_id));
    else
        hash_add(hash, frame->module, strlen(frame->module));
    hash_add(hash, &offset, sizeof(offset));
}

static void add_group(struct hash *hash, const struct trail_frame *frame)
{
    char name[512];
    const char *slash = strrchr(frame->module, '/');
    const char *module = slash ? slash + 1 : frame->module;
    trail_name_undecorated(frame->function, name, sizeof(name));
    hash_add(hash, module, strlen(module));
    hash_add(hash, name, strlen(name));
}

void trail_fingerprints(const struct trail_resolved *resolved, char exact_ret[17],
                        char group_ret[17])
{
    struct hash exact = { 0xcbf29ce484222325u }, group = exact;
    const struct trail_resolved_thread *thread = trail_report_subject(resolved);
    size_t grouped = 0;

    for (size_t i = 0; thread && i < thread->frame_count; i++) {
        const struct trail_frame *frame = &thread->frames[i].frame;
        /* Which were put back depends on the debug information at hand. */
        if (frame->reconstructed)
            continue;
        /* By address alone: what a name tells must not change it. */
        if (frame->inline_index == 0 && strcmp(frame->hidden, "capture") != 0)
            add_exact(&exact, frame);
        if (!frame->hidden[0] && frame->in_app && frame->function[0] &&
            grouped++ < GROUP_FRAMES)
            add_group(&group, frame);
    }
    hash_text(&exact, exact_ret);
    /* Without a name of the program's own there is nothing else to group by. */
    hash_text(grouped ? &group : &exact, group_ret);
}
