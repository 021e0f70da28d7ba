/* pages.h -- telling the system that bytes of a mapped file will be read.
 *
 * A page that is touched for the first time costs an exception, which in a virtual
 * machine takes as long as reading a hundred thousand bytes. Asked for beforehand, all
 * pages of a range come with one call.
 */
#ifndef ELF_PAGES_H
#define ELF_PAGES_H

#include <stddef.h>
#include <stdint.h>

/* Nearly all of these bytes will be read now. Changes nothing but the time it takes;
 * bytes that are in no file, or cannot be read, are fine. Any thread. */
void pages_will_read(const uint8_t *bytes, size_t size);

#endif
