/* player.cpp -- the usual example of inlined calls. Captured in Square; with argument
 * "below" in a function that Square calls; with "raw" the stack of both as raw traces.
 */
#include "show.h"

#include <cmath>

struct Point {
    float x, y;
};

struct Player {
    Point pos;
};

struct Item {
    Point pos;
};

static struct trail_backtrace backtrace;
static bool below;
static volatile int done;

OUT_OF_LINE static void Below()
{
    trail_capture(&backtrace);
    done = 1;
}

inline float Square(float val)
{
    if (below)
        Below();
    else
        trail_capture(&backtrace);
    return val * val;
}

inline float Distance(Point p1, Point p2)
{
    return std::sqrt(Square(p1.x - p2.x) + Square(p1.y - p2.y));
}

OUT_OF_LINE static bool CanReach(Player p, Item i)
{
    return Distance(p.pos, i.pos) < 5;
}

OUT_OF_LINE static int ItemsLoop(Player p, const Item *items, int count)
{
    int reachable = 0;
    for (int i = 0; i < count; i++)
        reachable += CanReach(p, items[i]);
    return reachable;
}

OUT_OF_LINE static void PlayerLogic(Player p)
{
    const Item items[2] = { { { 1, 2 } }, { { 30, 40 } } };
    done = ItemsLoop(p, items, 2);
}

int main(int argc, char **argv)
{
    const Player player = { { 0, 0 } };
    bool raw = argc > 1 && strcmp(argv[1], "raw") == 0;
    below = argc > 1 && strcmp(argv[1], "below") == 0;
    PlayerLogic(player);
    if (raw)
        show_raw(&backtrace, "player");
    else
        show(&backtrace, TRAIL_STYLE_INLINE_INDEX);
    return 0;
}
