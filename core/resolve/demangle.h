/* demangle.h -- names as their language writes them. */
#ifndef TRAIL_DEMANGLE_H
#define TRAIL_DEMANGLE_H

/* The name demangled, in memory the caller frees; NULL: it is not mangled, too long, or
 * nothing known. C++ (Itanium ABI), Rust (legacy and v0) and D, by libiberty. */
char *trail_demangle(const char *name);

#endif
