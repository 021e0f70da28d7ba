/* caller.h -- the function of the two libraries made of caller.c. */
#ifndef LIVE_CALLER_H
#define LIVE_CALLER_H

__attribute__((visibility("default"))) void alpha_calls(void (*back)(void));
__attribute__((visibility("default"))) void bravo_calls(void (*back)(void));

#endif
