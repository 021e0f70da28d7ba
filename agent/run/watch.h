/* watch.h -- a program that no library can be loaded into, watched from outside. */
#ifndef TRAIL_AGENT_RUN_WATCH_H
#define TRAIL_AGENT_RUN_WATCH_H

#include "agent/run/program.h"
#include "agent/run/reports.h"

/* Run the program and its children traced, and print the report of each that dies of a
 * signal which tells of a mistake. That it is watched, and why, was said before.
 * Returns what to exit with; a death by a signal is repeated, if it can be. */
int run_watched(const struct program *program, char *const *arguments,
                struct run_reports *reports);

#endif
