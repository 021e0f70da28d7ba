/* contract.h -- what both contract tests start from: a plugin loaded as the agent would
 * load it, and options as the config loader would make them. */
#ifndef TRAIL_TEST_CONTRACT_H
#define TRAIL_TEST_CONTRACT_H

#include "test.h"
#include "config/config.h"
#include "core/registry/registry.h"

struct contract {
    char root[64]; /* temporary directory, for state and for what the plugin writes */
    struct trail_registry *registry;
    const struct trail_plugin *plugin;
    struct trail_config *config;
    struct trail_option_set *set;
    const struct trail_options *options; /* defaults, and sensible required values */
};

/* Load plugin `name` out of the directory of `file`, and make its options. */
void contract_open(struct contract *contract, enum trail_plugin_kind kind,
                   const char *file, const char *name);
void contract_close(struct contract *contract);

/* Fails unless the record, the table and each other's numbers agree. */
void contract_check_table(const struct trail_plugin *plugin, uint32_t abi,
                          uint32_t shape, uint32_t table_abi, uint32_t table_size);
/* Fails unless every row of an option table has what lists and messages need. */
void contract_check_options(const struct trail_option_spec *specs, uint32_t count,
                            uint32_t stride);
/* The whole file; the caller frees it. */
uint8_t *contract_read(const char *path, size_t *size_ret);

#endif
