/* known.h -- plugin files that have not changed since they were hashed, so that a
 * program that loads one need not read all of it again.
 *
 * Beside the copies, <state>/plugins/DEVICE-INODE.known says of one plugin file which
 * bytes it held (size, times of modification and change) and which copy holds the same
 * (hash, inode, time of change). Nobody can set a file's time of change, so as long as
 * all of these are as noted, so are the bytes of both.
 */
#ifndef TRAIL_REGISTRY_KNOWN_H
#define TRAIL_REGISTRY_KNOWN_H

#include "core/registry/file.h"

/* Open the copy of the plugin file `path`, if one is known. True: *file_ret is as
 * trail_plugin_file_open would give it, with is_kept set. False: read the file. */
bool trail_known_open(const char *path, const char *state_directory,
                      struct trail_plugin_file *file_ret);

/* Note that `copy` holds the bytes that `file`, read from `path`, has. A file that was
 * changed in the seconds before `now_ns` (since 1970) is not noted: another change
 * could bear the same time. What cannot be written is not noted either, and costs time
 * only. */
void trail_known_add(const char *path, const char *state_directory,
                     const struct trail_plugin_file *file, const char *copy,
                     uint64_t now_ns);

#endif
