/* demangle.h -- names as their language writes them. */
#ifndef TRAIL_DEMANGLE_H
#define TRAIL_DEMANGLE_H

#include <stdbool.h>

/* The name demangled, in memory the caller frees; NULL: it is not mangled, too long, or
 * nothing known. C++ (Itanium ABI), Rust (legacy and v0) and D, by libiberty. */
char *trail_demangle(const char *name);

/* Which languages a name is taken to come from, as GNU tools call them. */
enum trail_demangling {
    TRAIL_DEMANGLING_AUTO, /* C++ or Rust, by the name */
    TRAIL_DEMANGLING_GNU_V3,
    TRAIL_DEMANGLING_RUST,
    TRAIL_DEMANGLING_D,
    TRAIL_DEMANGLING_JAVA,
    TRAIL_DEMANGLING_GNAT,
};

/* False: there is no "auto", "gnu-v3", "rust", "dlang", "java", "gnat" of this name. */
bool trail_demangling_of(const char *name, enum trail_demangling *demangling_ret);

/* As trail_demangle, for one kind of names. */
char *trail_demangle_as(const char *name, enum trail_demangling demangling);

#endif
