/* linkage.h -- names as linkers have them, without what they and compilers append. */
#ifndef TRAIL_LINKAGE_H
#define TRAIL_LINKAGE_H

#include <stdbool.h>
#include "backtrail/base.h"

/* The length without what compilers append to parts and copies of a function: "f.cold",
 * "f.constprop.0". Other dots are the language's own: main.handleRequest. */
size_t trail_linkage_unsuffixed(const char *name, size_t size);
/* Whether it is a part of a function that is not its beginning. */
bool trail_linkage_is_part(const char *name);
/* Whether both are names of one function: suffixes, versions and "@plt" do not count.
 * An empty name is that of none. */
bool trail_linkage_same(struct trail_text a, struct trail_text b);

/* Bytes in front of a name as the source has it that name its scopes: 4 of "ns::f",
 * none of "f<a::b>" or "operator()". A map does not keep them apart. */
size_t trail_scope_size(struct trail_text name);

#endif
