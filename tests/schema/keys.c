/* keys.c -- prints every key of a configuration that is the host's, one a line. */
#include <stdio.h>

#include "config/keys.h"

int main(void)
{
    for (const struct trail_config_key *key = trail_config_keys; key->path; key++)
        puts(key->path);
    return 0;
}
