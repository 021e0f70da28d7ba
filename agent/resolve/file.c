/* file.c -- addresses of one file, as symbolizers on the command line take
 * them. */
#include <errno.h>

#include "agent/lines.h"
#include "agent/module_file.h"
#include "agent/progress.h"
#include "agent/resolve/addresses.h"
#include "agent/resolve/style.h"

/* Addresses looked up at once, where nobody waits for each answer: a symbolizer then
 * reads what they have in common once. */
#define BATCH_MAX 1024

struct session {
    struct trail_resolver *resolver;
    const struct resolve_options *options;
    struct module_file module;
    uint64_t section_start, section_size; /* of options->section */
    const struct style *style;
    struct style_output output;
    unsigned told; /* mistakes of the file */
    uint64_t asked[BATCH_MAX];
    size_t asked_count, batch; /* addresses gathered; how many are looked up at once */
};

/* The section that addresses count from. One that takes no memory holds none. */
static enum trail_status find_section(struct session *session, struct trail_error *err)
{
    const struct module_file *module = &session->module;
    const char *name = session->options->section;
    struct trail_elf_section section;
    if (!module->is_elf || !trail_elf_section_named(&module->elf, name, &section))
        return trail_fail(err, TRAIL_BAD_INPUT, "%s: has no section %s",
                          session->options->file, name);
    session->section_start = section.address;
    session->section_size = section.flags & TRAIL_ELF_ALLOC ? section.size : 0;
    return TRAIL_OK;
}

static enum trail_status open_file(struct session *session, struct trail_error *err)
{
    const struct resolve_options *options = session->options;
    struct module_file *module = &session->module;
    enum trail_status status =
        module_file_open_or_map(options->file, options->file, module, err);
    if (status)
        return status;
    if (options->format)
        module->target.module.format = options->format;
    session->output.is32 = module->is_elf && !module->elf.is64;
    return options->section ? find_section(session, err) : TRAIL_OK;
}

/* The address to look up for the one that was given; false: there is none. */
static bool lookup_address(const struct session *session, uint64_t asked,
                           uint64_t *address_ret)
{
    const struct resolve_options *options = session->options;
    uint64_t before = options->return_addresses ? 1 : 0;
    if (asked < before)
        return false;
    if (options->section && asked - before >= session->section_size)
        return false;
    *address_ret = session->section_start + asked - before;
    return true;
}

/* Whether the file was read, and has no more to say. */
static bool is_answer(const struct trail_gap *gap)
{
    static const char *const reasons[] = { "no_symbol", "no_line_info",
                                           "stripped_no_id" };
    for (size_t i = 0; i < sizeof(reasons) / sizeof(reasons[0]); i++)
        if (strcmp(gap->reason, reasons[i]) == 0)
            return true;
    return false;
}

/* A file that cannot be used is told once; addresses without a name are answers. */
static int tell_gap(struct session *session, const struct trail_gap *gap)
{
    if (!gap->reason || is_answer(gap))
        return EXIT_DONE;
    progress_hide();
    if (session->told++ == 0)
        fprintf(stderr, "backtrail: %s: %s: %s; %s\n", session->options->file,
                gap->reason, gap->detail, gap->remedy);
    return EXIT_FAILED;
}

/* Two styles print discriminators, which an origin map does not have. */
static unsigned flags_of(const struct session *session)
{
    bool discriminators = session->style == &style_gnu || session->style == &style_json;
    return resolve_lookup_flags(session->options) |
           (discriminators ? TRAIL_LOOKUP_DISCRIMINATORS : 0u);
}

/* Look up those that there is an address for. `index` gives the place of each among
 * those that were asked. */
static enum trail_status look_up(struct session *session, struct trail_arena *arena,
                                 struct trail_answer *answers, struct trail_gap *gap)
{
    uint64_t addresses[BATCH_MAX];
    size_t index[BATCH_MAX], count = 0;
    for (size_t i = 0; i < session->asked_count; i++) {
        uint64_t asked = session->asked[i];
        if (session->output.is32 && session->options->style == RESOLVE_STYLE_GNU)
            session->asked[i] = asked &= UINT32_MAX; /* as addr2line does */
        if (lookup_address(session, asked, &addresses[count]))
            index[count++] = i;
    }
    struct trail_answer *found = trail_arena_take(arena, (count + 1) * sizeof(*found));
    if (!found || !count)
        return found ? TRAIL_OK : TRAIL_NO_MEMORY;
    enum trail_status status =
        trail_resolver_lookup(session->resolver, &session->module.target, addresses,
                              count, flags_of(session), arena, found, gap);
    for (size_t i = 0; i < count && !status; i++)
        answers[index[i]] = found[i];
    return status;
}

/* Answer what was gathered. */
static int answer_batch(struct session *session)
{
    struct trail_arena arena = { 0 };
    struct trail_gap gap = { 0 };
    size_t count = session->asked_count;
    struct trail_answer *answers =
        trail_arena_take(&arena, (count + 1) * sizeof(*answers));
    enum trail_status status =
        answers ? look_up(session, &arena, answers, &gap) : TRAIL_NO_MEMORY;
    for (size_t i = 0; i < count && !status; i++)
        session->style->answer(&session->output, session->asked[i], &answers[i]);
    int exit_code =
        status ? failure("resolve: out of memory") : tell_gap(session, &gap);
    session->asked_count = 0;
    trail_arena_deinit(&arena);
    return exit_code;
}

static int answer_one(struct session *session, uint64_t asked)
{
    session->asked[session->asked_count++] = asked;
    return session->asked_count < session->batch ? EXIT_DONE : answer_batch(session);
}

static bool is_lenient(const struct resolve_options *options)
{
    return options->style >= RESOLVE_STYLE_GNU;
}

static int answer_arguments(struct session *session, char **addresses, int count)
{
    int exit_code = EXIT_DONE;
    for (int i = 0; i < count; i++) {
        uint64_t address = 0;
        if (is_lenient(session->options))
            address = address_parse_anyhow(addresses[i], session->output.is32);
        else
            address_parse(addresses[i], &address);
        if (answer_one(session, address))
            exit_code = EXIT_FAILED;
    }
    return answer_batch(session) ? EXIT_FAILED : exit_code;
}

static int tell_wrong(const struct address_input *input)
{
    progress_hide();
    return failure("standard input:%zu: '%.64s' is not a hexadecimal address",
                   input->number, input->line);
}

/* Whoever asks through a pipe or a terminal may be waiting for the answer. */
static int answer_input(struct session *session)
{
    struct address_input input = { .stream = stdin,
                                   .is32 = session->output.is32,
                                   .anyhow = is_lenient(session->options) };
    uint64_t total = line_stream_size(stdin), done = 0, address;
    int exit_code = EXIT_DONE;
    enum address_next next;
    session->batch = total ? BATCH_MAX : 1;
    progress_begin(total, "looking up addresses");
    while ((next = address_next(&input, &address)) != ADDRESS_END) {
        if (next == ADDRESS_WRONG) {
            answer_batch(session);
            exit_code = tell_wrong(&input);
        } else if (answer_one(session, address)) {
            exit_code = EXIT_FAILED;
        }
        if (!total)
            fflush(stdout);
        progress_add((size_t)(input.size - done));
        done = input.size;
    }
    if (answer_batch(session))
        exit_code = EXIT_FAILED;
    progress_end();
    if (!feof(stdin))
        exit_code = failure("standard input: %s", strerror(errno));
    address_input_deinit(&input);
    return exit_code;
}

static int answer_all(struct session *session, char **addresses, int count)
{
    session->output.streamed = count == 0;
    if (session->style->begin)
        session->style->begin(&session->output);
    int exit_code =
        count ? answer_arguments(session, addresses, count) : answer_input(session);
    if (session->style->end)
        session->style->end(&session->output);
    return exit_code;
}

int resolve_file(struct trail_pipeline *pipeline, const struct resolve_options *options,
                 char **addresses, int count)
{
    struct trail_error err = { "" };
    struct session session = { .options = options,
                               .style = style_of(options),
                               .resolver = trail_pipeline_resolver(pipeline, &err) };
    session.batch = BATCH_MAX;
    session.output.options = options;
    session.output.module = &session.module.target.module;
    for (int i = 0; i < count && !is_lenient(options); i++) {
        uint64_t address;
        if (!address_parse(addresses[i], &address))
            return usage_error("resolve", "'%s' is not a hexadecimal address",
                               addresses[i]);
    }
    enum trail_status status = open_file(&session, &err);
    int exit_code =
        status ? failure("%s", err.text) : answer_all(&session, addresses, count);
    module_file_close(&session.module);
    return exit_code;
}
