/* builtins.h -- the plugins that are part of this library, as a table. */
#ifndef TRAIL_BUILTINS_H
#define TRAIL_BUILTINS_H

#include "core/registry/registry.h"

extern const struct trail_builtin trail_builtins[];
extern const size_t trail_builtin_count;

#endif
