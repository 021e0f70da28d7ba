/* minidebug.h -- .gnu_debugdata: a small ELF file, compressed by xz, that carries the
 * function symbols of a stripped module.
 */
#ifndef ELF_MINIDEBUG_H
#define ELF_MINIDEBUG_H

#include "plugins/elf/binary.h"

/* Unpack the section. What grows beyond 64 MiB is refused, as is a stream that
 * needs more than 64 MiB of working memory.
 *
 * Errors: TRAIL_NOT_FOUND: no such section; TRAIL_BAD_INPUT, TRAIL_NO_MEMORY.
 * Owns:   the caller frees *bytes_ret.
 */
enum trail_status minidebug_unpack(const struct binary *binary, uint8_t **bytes_ret,
                                   size_t *size_ret);

#endif
