/* app.c CONFIG -- somebody else's program: it reports once, as its config says. */
#include <backtrail/backtrail.h>

int main(int argc, char **argv)
{
    struct trail_error err = { "" };

    if (trail_init(argc > 1 ? argv[1] : NULL, &err)) {
        fprintf(stderr, "%s\n", err.text);
        return 1;
    }
    enum trail_status status = trail_report(TRAIL_ERROR, "from outside", NULL, 0, &err);
    trail_shutdown();
    return status != TRAIL_OK;
}
