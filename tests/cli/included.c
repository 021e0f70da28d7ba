/* included.c -- a program all of which comes from another file. */
#include "aliases.c"
