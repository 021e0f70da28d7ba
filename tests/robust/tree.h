/* tree.h -- a call tree that knows itself: at any instruction it can be told which of
 * its calls are under way in the calling thread.
 */
#ifndef TRAIL_TEST_TREE_H
#define TRAIL_TEST_TREE_H

#include "truth.h"

/* Call functions of the tree at random, `rounds` times from its root. They also call
 * functions of libc, and `visit` now and then. */
void tree_grow(unsigned rounds, void (*visit)(void));

/* Whether `taken`, whose first `start` entries are somebody else's, is right: its
 * entries in code of the tree are the calls under way, and what lies outside of the
 * tree's root is the truth that was noted when it was called. At the top there may be a
 * call that is just being made or returned from, and one out of the tree. */
bool tree_holds(const struct taken *taken, unsigned start);
/* False while the calling thread is in none of the tree's functions. */
bool tree_is_under_way(void);

#endif
