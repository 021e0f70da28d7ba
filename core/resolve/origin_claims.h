/* origin_claims.h -- decides who answers for each byte of the text, and how the text of
 * a map is laid out.
 */
#ifndef TRAIL_ORIGIN_CLAIMS_H
#define TRAIL_ORIGIN_CLAIMS_H

#include "core/resolve/origin_merge.h"

/* Bytes that one run answers for. */
struct trail_claim {
    uint64_t from, to; /* addresses */
    uint64_t offset;   /* of `from` in the text */
    const struct trail_row_run *run;
};

/* Text without large gaps. */
struct trail_piece {
    uint64_t start, size, offset;
};

struct trail_claims {
    struct trail_claim *at; /* ascending, disjoint */
    uint32_t count;
    struct trail_piece *pieces;
    uint32_t piece_count;
    uint64_t text_size; /* of all pieces; a multiple of ORIGIN_REGION */
};

/* Where runs overlap the one of the lower part answers, within a part the first. `runs`
 * get sorted, and are borrowed.
 *
 * Errors: TRAIL_NO_MEMORY; TRAIL_UNSUPPORTED: over 4 GiB of text. Then too deinit.
 */
enum trail_status trail_claims_init(struct trail_claims *claims,
                                    struct trail_row_run *runs, uint32_t count,
                                    struct trail_error *err);
void trail_claims_deinit(struct trail_claims *claims);

/* The first claim that reaches beyond `offset` of the text. */
uint32_t trail_claim_beyond(const struct trail_claims *claims, uint64_t offset);
/* The span of a run that holds byte `at` of it. */
uint32_t trail_span_at(const struct trail_rows *spans, const struct trail_row_run *run,
                       uint64_t at);

/* Where an address is in the text; UINT64_MAX: nowhere. */
uint64_t trail_claims_offset(const struct trail_claims *claims, uint64_t address);

#endif
