/* answers.c -- what has been resolved, kept: a log says the same again and again. */
#include "agent/log/answers.h"

#include <stdlib.h>

/* Texts behind the calls of an answer, one after the other. */
struct packer {
    char *at; /* NULL: count only */
    size_t size;
};

static const char *pack(struct packer *packer, const char *a, const char *b,
                        const char *c)
{
    const char *parts[] = { a, b, c };
    char *text = packer->at ? packer->at + packer->size : NULL;
    size_t left = LOG_NAME_LIMIT;
    for (size_t i = 0; i < 3; i++)
        for (const char *from = parts[i]; *from && left; from++, left--) {
            bool control = (uint8_t)*from < 32 || *from == 127;
            if (packer->at)
                packer->at[packer->size] = control ? '?' : *from;
            packer->size++;
        }
    if (packer->at)
        packer->at[packer->size] = 0;
    packer->size++;
    return text;
}

/* Frames as calls: once to count bytes, once to write them. */
static void pack_calls(struct packer *packer, const struct trail_answer *found,
                       size_t count, struct log_call *calls)
{
    for (size_t i = 0; i < count; i++) {
        const struct trail_named *named = &found->frames[i];
        bool alone = named->file[0] == '/' || !named->file[0] || !named->directory[0];
        const char *function = pack(packer, named->function, "", "");
        const char *file =
            pack(packer, alone ? "" : named->directory, alone ? "" : "/", named->file);
        if (calls)
            calls[i] = (struct log_call){ function, file, named->line, named->column };
    }
}

static struct log_answer *answer_of(const struct trail_answer *found)
{
    size_t count =
        found->frame_count < LOG_CHAIN_LIMIT ? found->frame_count : LOG_CHAIN_LIMIT;
    struct packer packer = { .at = NULL };
    pack_calls(&packer, found, count, NULL);
    size_t head = sizeof(struct log_answer) + count * sizeof(struct log_call);
    struct log_answer *answer = malloc(head + packer.size);
    if (!answer)
        return NULL;
    *answer = (struct log_answer){ .bytes = head + packer.size, .call_count = count };
    packer = (struct packer){ .at = (char *)answer + head };
    pack_calls(&packer, found, count, answer->calls);
    return answer;
}

static size_t slot_of(const struct log_module *module, uint64_t address)
{
    uint64_t hash = (address ^ (uint64_t)(uintptr_t)module >> 4) * 0x9e3779b97f4a7c15u;
    return (size_t)(hash >> 32) % LOG_ANSWER_SLOTS;
}

const struct log_answer *log_answers_get(struct log_answers *answers,
                                         const struct log_backend *backend,
                                         struct log_module *module, uint64_t address)
{
    struct log_answer **slot = &answers->slots[slot_of(module, address)];
    if (*slot && (*slot)->module == module && (*slot)->address == address)
        return *slot;
    struct trail_arena arena = { 0 };
    struct trail_answer found = { 0 };
    struct log_answer *answer = NULL;
    if (backend->lookup(backend->arg, module, address, &arena, &found) == TRAIL_OK)
        answer = answer_of(&found);
    trail_arena_deinit(&arena);
    if (!answer)
        return NULL;
    answer->module = module;
    answer->address = address;
    if (answers->bytes + answer->bytes > LOG_ANSWER_BYTES)
        log_answers_clear(answers);
    if (*slot)
        answers->bytes -= (*slot)->bytes;
    free(*slot);
    *slot = answer;
    answers->bytes += answer->bytes;
    return answer;
}

void log_answers_clear(struct log_answers *answers)
{
    for (size_t i = 0; answers->bytes && i < LOG_ANSWER_SLOTS; i++) {
        if (!answers->slots[i])
            continue;
        answers->bytes -= answers->slots[i]->bytes;
        free(answers->slots[i]);
        answers->slots[i] = NULL;
    }
}
