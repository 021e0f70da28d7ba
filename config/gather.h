/* gather.h -- all the texts that make up a configuration: the file, what it includes,
 * and what stands in the folder beside it.
 */
#ifndef TRAIL_CONFIG_GATHER_H
#define TRAIL_CONFIG_GATHER_H

#include "config/config.h"
#include "config/document.h"
#include "config/mistakes.h"

/* Most files of one configuration, how deep includes may nest, and how many bytes all
 * files may have together. */
#define TRAIL_CONFIG_PART_LIMIT    64
#define TRAIL_CONFIG_INCLUDE_LIMIT 8
#define TRAIL_CONFIG_TOTAL_LIMIT   (16u << 20)

/* Where files come from, in the words of core/os/os.h. */
struct trail_config_files {
    enum trail_status (*read)(const char *path, size_t limit, char **bytes_ret,
                              size_t *size_ret, struct trail_error *err);
    enum trail_status (*list)(const char *path,
                              enum trail_status (*entry)(void *arg, const char *name),
                              void *arg, struct trail_error *err);
    bool (*real)(const char *path, char *path_ret, size_t size);
};
extern const struct trail_config_files trail_config_os_files;

/* Add `document` to `whole` after all that it includes; takes it over. `path` is where
 * it was read from, "" if nowhere. Mistakes are noted. */
void trail_config_gather(struct trail_config_document *whole,
                         const struct trail_config_files *files,
                         struct trail_config_document *document, const char *path,
                         struct trail_config_mistakes *mistakes);

/* Add the files of the folder PATH.d, in order of name, each after what it includes. No
 * such folder is fine. */
void trail_config_gather_drop_ins(struct trail_config_document *whole,
                                  const struct trail_config_files *files,
                                  const char *path,
                                  struct trail_config_mistakes *mistakes);

/* Add one part; takes it over, also if it fails. */
enum trail_status trail_config_add_part(struct trail_config_document *whole,
                                        struct trail_config_document *part,
                                        struct trail_error *why);

/* The directory that `path` names a file in, absolute where it can be made so; the
 * caller frees it. NULL: no memory. */
char *trail_config_directory_of(const struct trail_config_files *files,
                                const char *path);

#endif
