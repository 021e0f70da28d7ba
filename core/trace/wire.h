/* wire.h -- the version of raw traces and reports, and which versions are read.
 *
 * Writers write TRAIL_WIRE_VERSION; readers take it and the one before (docs/wire.md).
 * It grows when a reader of the version before would misread what is written. A new
 * member alone does not raise it: readers pass on what they do not know. Version 0 is
 * what was written before the first release; its members mean what they do in 1.
 */
#ifndef TRAIL_WIRE_H
#define TRAIL_WIRE_H

#define TRAIL_WIRE_VERSION        1
#define TRAIL_WIRE_VERSION_OLDEST (TRAIL_WIRE_VERSION - 1)

#endif
