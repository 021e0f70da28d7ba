/* memory.h -- what the program does when memory runs out inside jansson. */
#ifndef TRAIL_AGENT_MEMORY_H
#define TRAIL_AGENT_MEMORY_H

/* From here on an allocation of jansson's that fails ends the program with one line and
 * EXIT_FAILED. Its reader drops characters instead, and its containers members, without
 * a word: output that looks right and is not. Only for a program of our own; an app's
 * memory is the app's. */
void memory_guard_json(void);

#endif
