/* program.h -- a program that `run` was given: where it is, and whether a library
 * can be loaded into it. */
#ifndef TRAIL_AGENT_RUN_PROGRAM_H
#define TRAIL_AGENT_RUN_PROGRAM_H

#include <stdbool.h>
#include "backtrail/base.h"

#define PROGRAM_PATH_SIZE 4096

struct program {
    char path[PROGRAM_PATH_SIZE]; /* of the file to run */
    /* Why no library can be loaded into it; NULL: one can. */
    const char *closed;
    /* A library that insists on being loaded first; "": there is none. */
    char first[PROGRAM_PATH_SIZE];
};

/* Find `name` as a shell would, and look at what it is. A script is what its
 * interpreter is. Returns 0, or what to exit with: 127 there is none, 126 it cannot
 * be run; that was told. */
int program_find(const char *name, struct program *program_ret);

/* Where libbacktrail-preload.so is: $BACKTRAIL_PRELOAD, else beside this program or
 * where it was installed. False: nowhere, or where LD_PRELOAD cannot name it; that was
 * told. */
bool program_preload(char *path_ret, size_t size);

#endif
