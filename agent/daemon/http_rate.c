/* http_rate.c -- how many requests a client of the HTTP input may make. */
#include "agent/daemon/http_rate.h"

#define NS_PER_SECOND 1e9

uint64_t http_rate_who(const void *bytes, size_t size)
{
    const uint8_t *at = bytes;
    uint64_t hash = 0xcbf29ce484222325u; /* FNV-1a */
    for (size_t i = 0; i < size; i++)
        hash = (hash ^ at[i]) * 0x100000001b3u;
    return hash ? hash : 1;
}

bool http_rate_take(struct http *http, uint64_t who)
{
    struct http_bucket *bucket = &http->buckets[who % HTTP_BUCKETS];
    uint64_t now = trail_os_mono_ns();
    double most = (double)http->rate;
    if (!http->rate)
        return true;
    trail_os_mutex_lock(&http->lock);
    if (bucket->who != who)
        *bucket = (struct http_bucket){ .who = who, .left = most, .then_ns = now };
    bucket->left += (double)(now - bucket->then_ns) / NS_PER_SECOND * most;
    if (bucket->left > most)
        bucket->left = most;
    bucket->then_ns = now;
    bool takes = bucket->left >= 1;
    if (takes)
        bucket->left -= 1;
    trail_os_mutex_unlock(&http->lock);
    return takes;
}
