/* tables.h -- what the files that read origin maps share. */
#ifndef ORIGIN_TABLES_H
#define ORIGIN_TABLES_H

#include "origin/map.h"

/* The text at an offset in the map's texts; empty: 0, or outside. */
struct trail_text origin_text_at(const struct origin_map *map, uint64_t offset);

#endif
