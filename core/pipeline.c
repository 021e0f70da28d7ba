/* pipeline.c -- all stages put together from a config. */
#include "core/pipeline.h"

#include <inttypes.h>
#include <stdatomic.h>
#include <stdlib.h>

#include "core/deliver/notice.h"
#include "core/report/report.h"
#include "core/setup.h"

#define IMAGE_LIMIT   64 /* modules that symbolizers keep open */
#define RESOLVE_NS    ((uint64_t)60 * 1000000000u)
#define PENDING_COUNT 1024
#define PENDING_SIZE  ((size_t)32 << 20)

struct trail_pipeline {
    struct trail_config *config;
    struct trail_registry *registry;
    const char *only_symbolizer;
    bool quiet, loads_late;
    const char **symbol_directories;
    size_t symbol_directory_count;
    char store[1024]; /* "": there is none */
    struct trail_redact *redact;
    struct trail_debuginfod *servers;
    struct trail_os_mutex lock; /* of links and resolver, made at the first need */
    struct trail_setup_links links;
    struct trail_resolver *resolver;
    struct trail_setup_outlets outlets;
    struct trail_deliver *deliver;
    struct trail_queue pending; /* raw traces */
    struct trail_os_thread thread;
    bool started;
    bool alone;                /* there are no threads: whoever submits does the work */
    _Atomic uint64_t until_ns; /* when closing: the end of all work */
    uint64_t unresolved, kept; /* traces that this came too early for */
    struct trail_leftover leftover;
};

/* ---- symbolizers, when first needed ------------------------------------- */

static void tell(void *arg, const char *what)
{
    (void)arg;
    trail_notice("%s", what);
}

static struct trail_setup setup_of(const struct trail_pipeline *pipeline)
{
    return (struct trail_setup){ .config = pipeline->config,
                                 .registry = pipeline->registry,
                                 .only_symbolizer = pipeline->only_symbolizer,
                                 .loads_late = pipeline->loads_late,
                                 .told = pipeline->quiet ? NULL : tell };
}

static enum trail_status make_resolver(struct trail_pipeline *pipeline,
                                       struct trail_error *err)
{
    const struct trail_resolver_options options = {
        .links = pipeline->links.at,
        .link_count = pipeline->links.count,
        .routes = trail_pipeline_routes(pipeline),
        .image_limit = IMAGE_LIMIT,
        .timeout_ns = RESOLVE_NS,
        .cache_bytes = pipeline->config->cache_bytes,
        .cache_files = (size_t)pipeline->config->cache_files,
    };
    return trail_resolver_create(&options, &pipeline->resolver, err);
}

/* In an app a mistake about symbolizers must not cost the reports: they go out with
 * addresses and modules, and the mistake is told once. */
static void load_symbolizers(struct trail_pipeline *pipeline, struct trail_error *err)
{
    struct trail_error why = { "" };
    const struct trail_setup setup = setup_of(pipeline);
    enum trail_status status = trail_setup_links(&setup, &pipeline->links, &why);
    if (status && pipeline->started)
        trail_notice("%s; reports go out without names", why.text);
    if (status && !pipeline->started)
        trail_fail(err, status, "%s", why.text);
    else if (make_resolver(pipeline, err))
        trail_setup_links_release(&pipeline->links);
}

struct trail_resolver *trail_pipeline_resolver(struct trail_pipeline *pipeline,
                                               struct trail_error *err)
{
    trail_os_mutex_lock(&pipeline->lock);
    if (!pipeline->resolver)
        load_symbolizers(pipeline, err);
    struct trail_resolver *resolver = pipeline->resolver;
    if (resolver)
        trail_resolver_end_by(resolver, atomic_load(&pipeline->until_ns));
    trail_os_mutex_unlock(&pipeline->lock);
    return resolver;
}

/* ---- traces on their way ------------------------------------------------ */

/* Bodies of one report, made when a sink asks for the first of its kind. */
struct rendered {
    const struct trail_resolved *resolved;
    const struct trail_redact *redact;
    struct {
        char *body;
        size_t size;
    } bodies[TRAIL_STYLE_TRACY + 1][2];
};

/* Put in the place of a body what may leave of it; without that, nothing may. */
static enum trail_status redact_body(const struct trail_redact *redact, uint32_t style,
                                     char **body, size_t *size)
{
    char *clean = NULL;
    size_t clean_size = 0;
    enum trail_status status =
        style == TRAIL_STYLE_JSON
            ? trail_redact_json(redact, *body, *size, &clean, &clean_size, NULL)
            : trail_redact_text(redact, *body, *size, &clean, &clean_size, NULL);
    if (!status && !clean)
        return TRAIL_OK;
    free(*body);
    *body = clean;
    *size = clean_size;
    return status;
}

static enum trail_status render(void *arg, struct trail_rendering *rendering)
{
    struct rendered *rendered = arg;
    uint32_t style = rendering->style;
    if (style < TRAIL_STYLE_JSON || style > TRAIL_STYLE_TRACY)
        style = TRAIL_STYLE_JSON;
    bool full = rendering->full && style != TRAIL_STYLE_JSON;
    const struct trail_text_style plain = {
        .flags = (full ? TRAIL_FULL : 0u) |
                 (style == TRAIL_STYLE_TRACY ? TRAIL_STYLE_INLINE_INDEX : 0u),
    };
    char **body = &rendered->bodies[style][full].body;
    size_t *size = &rendered->bodies[style][full].size;
    enum trail_status status = TRAIL_OK;
    bool fresh = !*body;

    if (fresh && style == TRAIL_STYLE_JSON)
        status = trail_report_json(rendered->resolved, body, size, NULL);
    else if (fresh)
        status = trail_report_text(rendered->resolved, &plain, body, size, NULL);
    if (fresh && !status)
        status = redact_body(rendered->redact, style, body, size);
    rendering->style = style;
    rendering->body = *body;
    rendering->size = *size;
    return status;
}

static void rendered_deinit(struct rendered *rendered)
{
    for (size_t i = 0; i <= TRAIL_STYLE_TRACY; i++)
        for (size_t k = 0; k < 2; k++)
            free(rendered->bodies[i][k].body);
}

static void forward(struct trail_pipeline *pipeline, const struct trail_item *item,
                    const struct trail_trace *trace)
{
    struct trail_error err = { "" };
    struct rendered rendered = { 0 };
    struct trail_resolved *resolved = NULL;
    if (trail_pipeline_resolve(pipeline, trace, TRAIL_LOOKUP_LIVE, &resolved, &err)) {
        trail_notice("report %s: %s", trace->id, err.text);
        return;
    }
    rendered.resolved = resolved;
    rendered.redact = pipeline->redact;
    const struct trail_delivery delivery = {
        .id = trace->id,
        .channel = trace->channel[0] ? trace->channel : trace->why,
        .class_ = item->class_,
        .printed = item->printed,
        .render = render,
        .arg = &rendered,
    };
    trail_deliver_put(pipeline->deliver, &delivery);
    rendered_deinit(&rendered);
    trail_resolved_destroy(resolved);
}

/* The time is up: an agent may resolve it. */
static void give_up(struct trail_pipeline *pipeline, const struct trail_item *item)
{
    struct trail_trace *trace = NULL;
    pipeline->unresolved++;
    if (pipeline->leftover.directory[0] &&
        trail_trace_read(item->body, item->size, &trace, NULL) == TRAIL_OK &&
        trail_leftover_keep(&pipeline->leftover, trace->id, item->body, item->size,
                            NULL) == TRAIL_OK)
        pipeline->kept++;
    trail_trace_destroy(trace);
}

static void work_on(struct trail_pipeline *pipeline, struct trail_item *item)
{
    struct trail_trace *trace = NULL;
    struct trail_error err = { "" };
    if (trail_os_mono_ns() > atomic_load(&pipeline->until_ns))
        give_up(pipeline, item);
    else if (trail_trace_read(item->body, item->size, &trace, &err))
        trail_notice("%s", err.text);
    else
        forward(pipeline, item, trace);
    trail_trace_destroy(trace);
    free(item);
    trail_queue_done(&pipeline->pending, 1);
}

static void pending_main(void *arg)
{
    struct trail_pipeline *pipeline = arg;
    struct trail_item *item;
    size_t count;
    while ((item = trail_queue_pop(&pipeline->pending, 1, &count)))
        work_on(pipeline, item);
}

static void pending_run(struct trail_pipeline *pipeline)
{
    struct trail_item *item;
    size_t count;
    while ((item = trail_queue_pop_now(&pipeline->pending, 1, &count)))
        work_on(pipeline, item);
}

enum trail_status trail_pipeline_submit(struct trail_pipeline *pipeline,
                                        const char *text, size_t size, uint32_t class_,
                                        bool printed, struct trail_error *err)
{
    struct trail_item *item = trail_item_create("", "", text, size);
    if (!item)
        return trail_fail(err, TRAIL_NO_MEMORY, "report: out of memory");
    item->class_ = class_;
    item->printed = printed;
    if (trail_queue_push(&pipeline->pending, item))
        return trail_fail(err, TRAIL_RETRY,
                          "report: %d are waiting to be resolved; dropped",
                          PENDING_COUNT);
    if (pipeline->alone)
        pending_run(pipeline);
    return TRAIL_OK;
}

bool trail_pipeline_idle(struct trail_pipeline *pipeline, uint64_t until_ns)
{
    return trail_queue_idle(&pipeline->pending, until_ns) &&
           trail_deliver_idle(pipeline->deliver, until_ns);
}

enum trail_status trail_pipeline_resolve(struct trail_pipeline *pipeline,
                                         const struct trail_trace *trace,
                                         unsigned flags,
                                         struct trail_resolved **resolved_ret,
                                         struct trail_error *err)
{
    struct trail_resolver *resolver = trail_pipeline_resolver(pipeline, err);
    if (!resolver)
        return TRAIL_BAD_INPUT;
    const struct trail_policy policy = {
        .in_app_include = pipeline->config->in_app_include,
        .in_app_exclude = pipeline->config->in_app_exclude,
    };
    return trail_resolve_trace(resolver, trace, &policy, flags, resolved_ret, err);
}

/* ---- making and unmaking ------------------------------------------------ */

static void set_leftover(struct trail_pipeline *pipeline)
{
    char inbox[1024];
    bool has = trail_setup_inbox(pipeline->config, inbox, sizeof(inbox));
    trail_leftover_init(&pipeline->leftover, has ? inbox : NULL);
    trail_deliver_set_leftover(pipeline->deliver, &pipeline->leftover);
}

static enum trail_status start_delivery(struct trail_pipeline *pipeline,
                                        struct trail_error *err)
{
    const struct trail_setup setup = setup_of(pipeline);
    enum trail_status status = trail_setup_check_options(&setup, err);
    if (!status)
        status = trail_setup_outlets(&setup, &pipeline->outlets, err);
    if (!status)
        status = trail_deliver_create(pipeline->outlets.at, pipeline->outlets.count,
                                      &pipeline->deliver, err);
    if (status)
        return status;
    set_leftover(pipeline);
    status = trail_os_thread_start(pending_main, pipeline, "backtrail",
                                   &pipeline->thread, err);
    pipeline->alone = status == TRAIL_UNSUPPORTED;
    pipeline->started = status == TRAIL_OK || pipeline->alone;
    return pipeline->started ? TRAIL_OK : status;
}

static size_t list_size(const char *const *list)
{
    size_t count = 0;
    while (list && list[count])
        count++;
    return count;
}

/* The command line's directories come before the config's. */
static enum trail_status set_directories(struct trail_pipeline *pipeline,
                                         const char *const *first,
                                         struct trail_error *err)
{
    const char *const *second =
        (const char *const *)pipeline->config->symbol_directories;
    size_t first_count = list_size(first), second_count = list_size(second);
    const char **all = calloc(first_count + second_count + 1, sizeof(*all));
    if (!all)
        return trail_fail(err, TRAIL_NO_MEMORY, "symbols: out of memory");
    for (size_t i = 0; i < first_count + second_count; i++)
        all[i] = i < first_count ? first[i] : second[i - first_count];
    pipeline->symbol_directories = all;
    pipeline->symbol_directory_count = first_count + second_count;
    return TRAIL_OK;
}

static enum trail_status set_redact(struct trail_pipeline *pipeline,
                                    struct trail_error *err)
{
    const struct trail_config *config = pipeline->config;
    const struct trail_redact_rules rules = { .names = config->redact_names,
                                              .patterns = config->redact_patterns,
                                              .paths = config->redact_paths,
                                              .keep = config->redact_keep };
    struct trail_error why = { "" };
    enum trail_status status = trail_redact_create(&rules, &pipeline->redact, &why);
    return status
               ? trail_fail(err, status, "%.80s: redact.%.160s", config->file, why.text)
               : TRAIL_OK;
}

static void set_store(struct trail_pipeline *pipeline, const char *given)
{
    char *store = pipeline->store;
    size_t size = sizeof(pipeline->store);
    if (given ? (size_t)snprintf(store, size, "%s", given) >= size
              : !trail_setup_store(pipeline->config, store, size))
        store[0] = 0;
}

enum trail_status trail_pipeline_create(const struct trail_pipeline_options *options,
                                        struct trail_pipeline **pipeline_ret,
                                        struct trail_error *err)
{
    struct trail_pipeline *pipeline = calloc(1, sizeof(*pipeline));
    const char *path = options->config_path;
    if (!pipeline)
        return trail_fail(err, TRAIL_NO_MEMORY, "pipeline: out of memory");
    atomic_init(&pipeline->until_ns, UINT64_MAX);
    pipeline->quiet = options->quiet;
    pipeline->loads_late = options->loads_late;
    pipeline->only_symbolizer = options->only_symbolizer;
    trail_queue_init(&pipeline->pending, PENDING_COUNT, PENDING_SIZE);
    if (!path)
        path = trail_os_environment("BACKTRAIL_CONFIG");

    enum trail_status status =
        trail_config_load_telling(path && path[0] ? path : NULL, options->config_told,
                                  options->config_told_arg, &pipeline->config, err);
    if (!status)
        status = set_directories(pipeline, options->symbol_directories, err);
    if (!status)
        set_store(pipeline, options->store);
    if (!status)
        status = set_redact(pipeline, err);
    if (!status)
        status = trail_setup_servers(pipeline->config, &pipeline->servers, err);
    if (!status)
        status = trail_setup_registry(pipeline->config, options->plugin_path,
                                      options->loads_late, &pipeline->registry, err);
    if (!status && options->sinks)
        status = start_delivery(pipeline, err);
    if (status) {
        trail_pipeline_destroy(pipeline, 0);
        return status;
    }
    *pipeline_ret = pipeline;
    return TRAIL_OK;
}

/* Resolve what waits until the time is up; what is lost is told. */
static void finish_pending(struct trail_pipeline *pipeline, uint64_t until_ns)
{
    trail_os_mutex_lock(&pipeline->lock);
    atomic_store(&pipeline->until_ns, until_ns);
    if (pipeline->resolver)
        trail_resolver_end_by(pipeline->resolver, until_ns);
    trail_os_mutex_unlock(&pipeline->lock);
    trail_queue_close(&pipeline->pending);
    if (pipeline->alone)
        pending_run(pipeline);
    else
        trail_os_thread_join(pipeline->thread);
    uint64_t dropped = trail_queue_dropped(&pipeline->pending);
    uint64_t lost = pipeline->unresolved - pipeline->kept;
    if (pipeline->kept)
        trail_notice("%" PRIu64 " reports were not resolved in time, and are kept for "
                     "an agent in %s",
                     pipeline->kept, pipeline->leftover.directory);
    if (lost)
        trail_notice("%" PRIu64 " reports were not resolved in time, and are lost",
                     lost);
    if (dropped)
        trail_notice("%" PRIu64 " reports were dropped, too many were waiting",
                     dropped);
}

void trail_pipeline_destroy(struct trail_pipeline *pipeline, uint64_t until_ns)
{
    if (!pipeline)
        return;
    if (pipeline->started)
        finish_pending(pipeline, until_ns);
    bool delivered = pipeline->deliver != NULL;
    trail_deliver_destroy(pipeline->deliver, until_ns);
    if (delivered)
        trail_leftover_deinit(&pipeline->leftover);
    trail_setup_outlets_release(&pipeline->outlets);
    trail_resolver_destroy(pipeline->resolver);
    trail_debuginfod_destroy(pipeline->servers);
    trail_redact_destroy(pipeline->redact);
    trail_setup_links_release(&pipeline->links);
    trail_queue_deinit(&pipeline->pending);
    trail_registry_destroy(pipeline->registry);
    trail_config_destroy(pipeline->config);
    trail_os_mutex_deinit(&pipeline->lock);
    free(pipeline->symbol_directories);
    free(pipeline);
}

const struct trail_config *trail_pipeline_config(const struct trail_pipeline *pipeline)
{
    return pipeline->config;
}

struct trail_routes trail_pipeline_routes(const struct trail_pipeline *pipeline)
{
    return (struct trail_routes){
        .directories = pipeline->symbol_directories,
        .directory_count = pipeline->symbol_directory_count,
        .store = pipeline->store[0] ? pipeline->store : NULL,
        .servers = pipeline->servers,
    };
}

const struct trail_redact *trail_pipeline_redact(const struct trail_pipeline *pipeline)
{
    return pipeline->redact;
}

struct trail_registry *trail_pipeline_registry(struct trail_pipeline *pipeline)
{
    return pipeline->registry;
}
