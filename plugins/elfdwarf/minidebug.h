/* minidebug.h -- .gnu_debugdata: a small ELF file, compressed by xz, that carries the
 * function symbols of a stripped module.
 */
#ifndef ELFDWARF_MINIDEBUG_H
#define ELFDWARF_MINIDEBUG_H

#include <libelf.h>
#include <stddef.h>
#include <stdint.h>

#include "backtrail/base.h"

/* Unpack the section. What grows beyond 64 MiB is refused, as is a stream that
 * needs more than 64 MiB of working memory.
 *
 * Errors: TRAIL_NOT_FOUND: no such section; TRAIL_BAD_INPUT, TRAIL_NO_MEMORY.
 * Owns:   the caller frees *bytes_ret.
 */
enum trail_status minidebug_unpack(Elf *elf, uint8_t **bytes_ret, size_t *size_ret);

#endif
