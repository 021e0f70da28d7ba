/* progress.h -- how far a long job has come: one line on standard error, rewritten.
 *
 * Shown only on a terminal, once a job has taken two seconds, and only while standard
 * output goes elsewhere: on the same screen the output itself tells. Anywhere else
 * these calls do nothing. One job at a time; one thread.
 */
#ifndef TRAIL_AGENT_PROGRESS_H
#define TRAIL_AGENT_PROGRESS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* `total_size`: bytes there are to do; 0: not known. `what` is lent until the end, and
 * shown: "resolving traces.jsonl". */
void progress_begin(uint64_t total_size, const char *what);
/* So many bytes more are done. Costs next to nothing: the clock is asked every 4 KiB.
 */
void progress_add(size_t size);
/* Take the line away before something else is written to standard error. It comes back
 * by itself. */
void progress_hide(void);
/* The job is over: the line goes away. Without a job: nothing. */
void progress_end(void);

/* What a job looks like after `elapsed_ns`, cut to `size`: "resolving a: 1.2 of 4.0 MiB
 * (30 %), 0.4 MiB/s, 0:07 left". */
void progress_line(char *text_ret, size_t size, const char *what, uint64_t done_size,
                   uint64_t total_size, uint64_t elapsed_ns);

#endif
