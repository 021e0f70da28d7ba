/* record.h -- the identity record of a plugin, read out of a file's bytes and judged.
 *
 * Everything here looks at bytes only: it decides whether code may be loaded, so it
 * comes before any of that code runs.
 */
#ifndef TRAIL_RECORD_H
#define TRAIL_RECORD_H

#include <stdbool.h>
#include "backtrail/base.h"

/* Longest name of an exported table: "trail_symbolizer_" and the plugin's name. */
#define TRAIL_RECORD_SYMBOL_SIZE 64

/* Judge the `size` bytes of a plugin file. `name` is what the record must call it: the
 * file's name without suffix. Checked are the container, the record, its ABI, shape and
 * sizes, and that the file exports the table which the record promises.
 *
 * Errors:   TRAIL_REFUSED; `err` says why and what helps, and names no file. If a
 *           record was there *desc_ret is set all the same, for lists. */
enum trail_status trail_record_read(const uint8_t *bytes, size_t size, const char *name,
                                    struct trail_record_desc *desc_ret,
                                    struct trail_error *err);

/* Whether `name` may name a plugin: 1 to 31 of a-z, 0-9 and '-'. */
bool trail_record_name_valid(const char *name);

/* The exported symbol of a plugin: trail_KIND_NAME, a dash being an underscore. */
void trail_record_symbol(uint32_t kind, const char *name,
                         char symbol_ret[TRAIL_RECORD_SYMBOL_SIZE]);

/* Whether a table of `size` bytes is one that this program can use: it has at least
 * the members that a plugin of this kind cannot do without. */
bool trail_record_table_sane(uint32_t kind, uint64_t size);

#endif
