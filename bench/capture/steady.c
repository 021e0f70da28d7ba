/* steady.c -- the figures that one process gives, in rounds of taking turns. */
#define _POSIX_C_SOURCE 200809L
#include "steady.h"

#include "bench/measure.h"
#include "scenes.h"

enum { ROUNDS = 41, COLD_ROUNDS = 21, TURN_NS = 400000 };

/* Ours and a peer, one after the other in each round. */
struct figure {
    const char *name;
    struct contestant ours, peer;
};

#define NOFP(peer, depth)                                                              \
    {                                                                                  \
        peer, chain_nofp, depth, CHANGE_NOTHING                                        \
    }
#define FP(peer, depth)                                                                \
    {                                                                                  \
        peer, chain_fp, depth, CHANGE_NOTHING                                          \
    }
#define SCATTERED(peer, depth)                                                         \
    {                                                                                  \
        peer, chain_scattered, depth, CHANGE_NOTHING                                   \
    }

static const struct figure figures[STEADY_FIGURES] = {
    { "nofp_hot_d8_vs_unw", NOFP(PEER_OURS_FULL, 8), NOFP(PEER_LIBUNWIND, 8) },
    { "nofp_hot_d32_vs_unw", NOFP(PEER_OURS_FULL, 32), NOFP(PEER_LIBUNWIND, 32) },
    { "nofp_hot_d128_vs_unw", NOFP(PEER_OURS_FULL, 128), NOFP(PEER_LIBUNWIND, 128) },
    { "nofp_scattered_d128_vs_unw", SCATTERED(PEER_OURS_FULL, 128),
      SCATTERED(PEER_LIBUNWIND, 128) },
    { "nofp_hot_d128_vs_glibc", NOFP(PEER_OURS_FULL, 128), NOFP(PEER_GLIBC, 128) },
    { "nofp_same_d128_vs_fpwalk",
      { PEER_OURS, chain_nofp, 128, CHANGE_SLOT },
      { PEER_UNCHECKED, chain_fp, 128, CHANGE_SLOT } },
    { "nofp_newleaf_d128_vs_unw",
      { PEER_OURS, chain_nofp, 128, CHANGE_SLOT_AND_LEAF },
      { PEER_LIBUNWIND, chain_nofp, 128, CHANGE_SLOT_AND_LEAF } },
    { "fp_mode_d128_vs_unchecked", FP(PEER_OURS_FP, 128), FP(PEER_UNCHECKED, 128) },
    { "fp_full_d128_vs_unchecked", FP(PEER_OURS, 128), FP(PEER_UNCHECKED, 128) },
    { "fp_hot_d128_vs_absl", FP(PEER_OURS_FP, 128), FP(PEER_ABSEIL, 128) },
    { "nofp_hot_d128_vs_libgcc", NOFP(PEER_OURS_FULL, 128), NOFP(PEER_LIBGCC, 128) },
    { "nofp_cold_d32_vs_unw", NOFP(PEER_OURS, 32), NOFP(PEER_LIBUNWIND, 32) },
};
enum { COLD = STEADY_FIGURES - 1 };

const char *steady_name(unsigned index)
{
    return figures[index].name;
}

const char *steady_peer(unsigned index)
{
    return peers[figures[index].peer.peer].name;
}

struct measured {
    double ours[ROUNDS], peer[ROUNDS], ratio[ROUNDS];
};

static void print(unsigned index, struct measured *measured, unsigned rounds)
{
    for (unsigned i = 0; i < rounds; i++)
        measured->ratio[i] = measured->peer[i] / measured->ours[i];
    double ours = measure_median(measured->ours, rounds);
    double peer = measure_median(measured->peer, rounds);
    printf("%u\t%.3f\t%.3f\t%.4f\n", index, ours, peer,
           measure_median(measured->ratio, rounds));
}

/* As many captures as make a turn long enough to be timed, after some that warm up. */
static unsigned turn_of(const struct contestant *contestant)
{
    scene_time(contestant, 64);
    double ns = scene_time(contestant, 64);
    return ns > TURN_NS / 16.0 ? 16 : (unsigned)(TURN_NS / (ns > 1 ? ns : 1));
}

static bool is_here(unsigned index)
{
    return peers[figures[index].peer.peer].capture != NULL;
}

static void measure_hot(void)
{
    static struct measured measured[COLD];
    unsigned turns[COLD][2];
    for (unsigned i = 0; i < COLD; i++) {
        if (!is_here(i))
            continue;
        turns[i][0] = turn_of(&figures[i].ours);
        turns[i][1] = turn_of(&figures[i].peer);
    }
    for (unsigned round = 0; round < ROUNDS; round++)
        for (unsigned i = 0; i < COLD; i++) {
            if (!is_here(i))
                continue;
            measured[i].ours[round] = scene_time(&figures[i].ours, turns[i][0]);
            measured[i].peer[round] = scene_time(&figures[i].peer, turns[i][1]);
        }
    for (unsigned i = 0; i < COLD; i++)
        if (is_here(i))
            print(i, &measured[i], ROUNDS);
}

/* Ours is told even where the peer is missing. */
static void measure_cold(void)
{
    const struct contestant contestants[] = { figures[COLD].ours, figures[COLD].peer };
    static struct measured measured;
    for (unsigned round = 0; round < COLD_ROUNDS; round++) {
        double ns[2] = { 0 };
        scene_time_cold(contestants, 2, ns);
        measured.ours[round] = ns[0];
        measured.peer[round] = ns[1];
    }
    print(COLD, &measured, COLD_ROUNDS);
}

void steady_print(void)
{
    measure_hot();
    measure_cold();
}
