/* linux_facts.h -- the parts of trail_os_facts_init. */
#ifndef TRAIL_LINUX_FACTS_H
#define TRAIL_LINUX_FACTS_H

void trail_os_stacks_init(void); /* fills in trail_os_stacks */

#endif
