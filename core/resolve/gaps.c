/* gaps.c -- why something of a module is missing, and what would close the gap. */
#include "core/resolve/gaps.h"

/* Reasons that mean less for an address that has a name from a symbol table. */
static const char no_symbol[] = "no_symbol";

static struct trail_gap gap_of(const struct trail_outcome *outcome,
                               struct trail_arena *arena, const char *reason,
                               const char *detail, const char *remedy)
{
    char hex[2 * 64 + 1], with_passed[1024];
    trail_hex(outcome->target->module.id, hex, sizeof(hex));
    if (outcome->search->passed[0]) {
        snprintf(with_passed, sizeof(with_passed), "%.600s; passed over: %.300s",
                 detail, outcome->search->passed);
        detail = with_passed;
    }
    return (struct trail_gap){
        .reason = reason,
        .detail = trail_arena_text(arena, trail_text_of(detail)),
        .remedy = remedy,
        .want = trail_arena_text(arena, trail_text_of(hex)),
    };
}

/* The file is not here: which of the places that could have it was not filled. */
static struct trail_gap gap_not_found(const struct trail_outcome *outcome,
                                      struct trail_arena *arena)
{
    const struct trail_routes *routes = outcome->routes;
    const char *message = outcome->message;
    char detail[512];
    if (outcome->target->module.id.size == 0)
        return gap_of(outcome, arena, "not_found", message,
                      "copy the file to where it was, or give it with -e FILE");
    if (routes->directory_count) {
        snprintf(detail, sizeof(detail), "%.240s; no file of its id is in %.200s",
                 message, routes->directories[0]);
        return gap_of(outcome, arena, "dir_lacks_build_id", detail,
                      "copy the file, or its debug file, there; `backtrail symbols "
                      "export` collects them where it was built");
    }
    if (routes->store && !trail_store_exists(routes->store)) {
        snprintf(detail, sizeof(detail), "%.240s; there is no store at %.200s", message,
                 routes->store);
        return gap_of(outcome, arena, "store_never_built", detail,
                      "run `backtrail symbols add FILE`, or copy the file to a "
                      "--symbols DIR");
    }
    return gap_of(outcome, arena, "not_found", message,
                  "copy the file, or its debug file, to a --symbols DIR");
}

/* A file was there, and did not say enough. */
static struct trail_gap gap_unnamed(const struct trail_outcome *outcome,
                                    struct trail_arena *arena)
{
    struct trail_gap gap =
        gap_of(outcome, arena, no_symbol, "no symbol covers the address",
               "give the unstripped file or its debug file with --symbols DIR");
    bool found_by_id = outcome->target->module.id.size &&
                       outcome->target->module.id_kind != TRAIL_ID_TEXT_HASH;
    if (found_by_id || !outcome->search->stripped)
        return outcome->worst ? trail_gap_for(gap, outcome->worst) : gap;
    return gap_of(outcome, arena, "stripped_no_id",
                  "it has neither debug information nor a build-id to find it by",
                  "link it with -Wl,--build-id and keep the unstripped file");
}

struct trail_gap trail_gap_explain(const struct trail_outcome *outcome,
                                   struct trail_arena *arena)
{
    const struct trail_search *search = outcome->search;
    if (outcome->worst == 3)
        return (struct trail_gap){ 0 };
    if (outcome->readers == 0)
        return gap_of(outcome, arena, "no_symbolizer",
                      "no configured symbolizer reads this kind",
                      "add one that does to \"symbolizers\" in the config");
    if (search->mismatch)
        return gap_of(outcome, arena, "id_mismatch", search->detail,
                      "give the files of the build that ran with --symbols DIR");
    if (search->fetch == TRAIL_FETCH_REFUSED)
        return gap_of(outcome, arena, "fetch_refused", search->fetched,
                      "ask who runs the server for access, or give the debug file "
                      "with --symbols DIR");
    if (search->fetch == TRAIL_FETCH_FAILED)
        return gap_of(outcome, arena, "fetch_failed", search->fetched,
                      "resolve it again when the server answers, or raise "
                      "symbols.debuginfod.timeout");
    if (!outcome->opened && outcome->status == TRAIL_NOT_FOUND)
        return gap_not_found(outcome, arena);
    if (outcome->timed_out || outcome->status == TRAIL_CANCELLED)
        return gap_of(
            outcome, arena, "timeout", outcome->message,
            "resolve it where there is more time, or by a symbol table alone");
    if (outcome->status)
        return gap_of(outcome, arena, "unreadable", outcome->message,
                      "get an undamaged copy of the file");
    return gap_unnamed(outcome, arena);
}

struct trail_gap trail_gap_for(struct trail_gap gap, uint32_t rank)
{
    if (rank == 0 || !gap.reason || strcmp(gap.reason, no_symbol) != 0)
        return gap;
    return (struct trail_gap){
        .reason = "no_line_info",
        .detail = "only a symbol table was found",
        .remedy = "install its debug file, or give it with --symbols DIR",
        .want = gap.want,
    };
}
