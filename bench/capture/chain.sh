#!/bin/sh
# chain.sh -- writes a chain of 128 functions, no two of which are alike.
#
# usage: chain.sh NAME [scattered]
#
# Each calls the next from two places, of which struct chain says one, so that a return
# address can be changed for another that is as good. There are eleven sizes of frames,
# and none to five saved registers. Recursion would flatter whoever remembers rules by
# address; functions side by side flatter caches: `scattered` puts 0 to 3 KiB between them.
set -eu
name=$1 scattered=${2-}
cat << END
/* A chain of calls, made by chain.sh. */
#include "chain.h"

#define APART __attribute__((noinline))

APART static long ${name}_leaf(struct chain *chain, long sum)
{
    volatile long kept = sum;
    chain->run(chain);
    return kept;
}
END
i=127 next=${name}_leaf
while [ "$i" -ge 0 ]; do
    case $((i % 6)) in
    0) saved='"memory"' ;;
    1) saved='"rbx", "memory"' ;;
    2) saved='"rbx", "r12", "memory"' ;;
    3) saved='"rbx", "r12", "r13", "memory"' ;;
    4) saved='"rbx", "r12", "r13", "r14", "memory"' ;;
    5) saved='"rbx", "r12", "r13", "r14" CHAIN_FIFTH, "memory"' ;;
    esac
    [ -z "$scattered" ] ||
        echo "__asm__(\".text; .skip $(((i * 7919 + 1237) * 31 % 3001))\");"
    cat << END
APART static long ${name}_$i(struct chain *chain, long sum)
{
    volatile char pad[$((8 + i * 37 % 11 * 16))];
    pad[0] = (char)sum;
    __asm__ volatile("" ::: $saved);
    if (chain->other_place) {
        sum = $next(chain, sum + 1);
        __asm__ volatile("" ::"i"(1)); /* or the two would be one */
    } else {
        sum = $next(chain, sum + 1);
        __asm__ volatile("" ::"i"(2));
    }
    __asm__ volatile("" ::: $saved);
    return sum + pad[0];
}
END
    next=${name}_$i
    i=$((i - 1))
done
echo "chain_fn *const chain_${name}[CHAIN_MOST] = {"
i=0
while [ "$i" -lt 128 ]; do
    echo "    ${name}_$i,"
    i=$((i + 1))
done
echo "};"
