/* pattern.h -- regular expressions, as the platform has them; included by os.h. */
#ifndef TRAIL_OS_PATTERN_H
#define TRAIL_OS_PATTERN_H

/* A POSIX extended regular expression, without references back to a match: those can
 * take for ever. */
struct trail_os_pattern;
enum trail_status trail_os_pattern_create(const char *text,
                                          struct trail_os_pattern **pattern_ret,
                                          struct trail_error *err);
void trail_os_pattern_destroy(struct trail_os_pattern *pattern); /* NULL is fine */
/* The first match in `text`, which is where a longer text goes on if `inside`.
 * TRAIL_NOT_FOUND: there is none; TRAIL_NO_MEMORY: nobody knows. */
enum trail_status trail_os_pattern_find(const struct trail_os_pattern *pattern,
                                        const char *text, bool inside,
                                        size_t *start_ret, size_t *end_ret);

#endif
