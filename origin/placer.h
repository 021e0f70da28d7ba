/* placer.h -- writes the frames of one region, each once, parents first. */
#ifndef ORIGIN_PLACER_H
#define ORIGIN_PLACER_H

#include "origin/regions.h"

struct placer_slot;

struct placer {
    struct origin_layout layout;
    void (*scope)(void *arg, uint32_t number, struct origin_scope *scope_ret);
    void *arg;
    /* Scopes that have a frame in the region in hand. */
    struct placer_slot *slots;
    uint32_t slot_count, slots_used, region;
};

/* The frames of a region, as they grow. */
struct placer_region {
    uint8_t *bytes;     /* of the region; 8 may be written behind `end` */
    uint32_t used, end; /* bytes that are taken; that frames may take */
};

/* What one record says. */
struct placer_record {
    uint32_t frame;    /* offset in the region; 0: none */
    uint64_t location; /* as the layout has it */
};

/* `layout`, `scope` and `arg` are set. False: out of memory. */
bool placer_init(struct placer *placer);
void placer_deinit(struct placer *placer);

/* A new region begins: nothing has a frame in it. */
void placer_begin(struct placer *placer);

/* A location as by origin_location, as the layout has it. */
uint64_t placer_pack(const struct placer *placer, uint64_t location);

/* Make the record of `scope` (0: none) and a location as by origin_location, writing
 * the frames of the chain that the region does not have. Where they do not fit, the
 * record is one of the call of the first that does not. False: out of memory. */
bool placer_place(struct placer *placer, struct placer_region *region, uint32_t scope,
                  uint64_t location, struct placer_record *record_ret);

#endif
