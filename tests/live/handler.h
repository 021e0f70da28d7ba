/* handler.h -- a crash handler as a program would write it. */
#ifndef LIVE_HANDLER_H
#define LIVE_HANDLER_H

#ifdef __cplusplus
extern "C" {
#endif

/* When the signal comes, print the stack that it interrupted and exit with 0.
 * `own_stack`: the handler runs on a stack of its own. */
void handle(int number, int own_stack);

#ifdef __cplusplus
}
#endif

#endif
