/* module_file.h -- a file that addresses are looked up in: mapped, and what it is. */
#ifndef TRAIL_AGENT_MODULE_FILE_H
#define TRAIL_AGENT_MODULE_FILE_H

#include "core/resolve/routes.h"
#include "core/trace/elf_tables.h"

/* As the system has it: no longer path can be opened. */
#define MODULE_PATH_SIZE 4096

/* Does not move once it is open: the target points into it. */
struct module_file {
    struct trail_os_file file;
    struct trail_elf elf; /* good if `is_elf` */
    bool is_elf;
    struct trail_target target;    /* `given`: the file itself, whatever its id */
    char path[MODULE_PATH_SIZE];   /* as users know it */
    char opened[MODULE_PATH_SIZE]; /* as it was opened; "" if from memory */
    uint8_t id[64];
    char id_hex[2 * 64 + 1]; /* "" if it has none */
};

/* Open `path`, which users know as `name`.
 *
 * Errors: as trail_os_file_map; TRAIL_BAD_INPUT: of no known format, or cut short. */
enum trail_status module_file_open(const char *path, const char *name,
                                   struct module_file *module_ret,
                                   struct trail_error *err);
/* The same; an origin map is taken, too: it stands for its module. */
enum trail_status module_file_open_or_map(const char *path, const char *name,
                                          struct module_file *module_ret,
                                          struct trail_error *err);
/* The same of an image in memory, which must stay. */
enum trail_status module_file_memory(const uint8_t *bytes, size_t size,
                                     const char *name, struct module_file *module_ret,
                                     struct trail_error *err);
/* Let an ELF file that carries no id be known by the hash of its code. */
void module_file_hash(struct module_file *module);
void module_file_close(struct module_file *module); /* zeroed and closed are fine */

/* The ELF file's code at link-time [start, start + size), cut to what the section or
 * the segment has. False: the file has no bytes there, like a debug file. */
bool module_file_code(const struct module_file *module, uint64_t start, uint64_t size,
                      struct trail_text *code_ret);

#endif
