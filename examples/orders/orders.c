/* orders.c -- a small service that reports what goes wrong, and panics once it is lost.
 *
 * usage: orders CONFIG [ORDER...]
 * An ORDER is a number of items; a negative one is reported, and -13 is too much.
 */
#include <backtrail/backtrail.h>

#include <stdlib.h>

/* Short functions that the compiler inlines: the report has to name them all the same.
 */
static inline int price_of(int item)
{
    return item % 7 + 1;
}

static inline void complain(int items)
{
    const struct trail_attribute attributes[] = { { "queue", "eu-1" } };
    struct trail_error err = { "" };
    if (items == -13)
        trail_panic("order of %d items cannot be", items);
    if (trail_report(TRAIL_WARNING, "an order of less than nothing", attributes, 1,
                     &err))
        fprintf(stderr, "orders: %s\n", err.text);
}

static inline int checked_price(int item, int items)
{
    if (items < 0)
        complain(items);
    return price_of(item);
}

__attribute__((noinline)) static int order_total(int items)
{
    int total = checked_price(0, items);
    for (int item = 1; item < items; item++)
        total += price_of(item);
    return total;
}

__attribute__((noinline)) static int handle_order(const char *text)
{
    int items = (int)strtol(text, NULL, 10);
    int total = order_total(items);
    printf("order of %d: %d\n", items, total);
    fflush(stdout);
    return total;
}

int main(int argc, char **argv)
{
    struct trail_error err = { "" };
    if (argc < 2) {
        fprintf(stderr, "usage: orders CONFIG [ORDER...]\n");
        return 2;
    }
    if (trail_init(argv[1], &err)) {
        fprintf(stderr, "orders: %s\n", err.text);
        return 1;
    }
    for (int i = 2; i < argc; i++) {
        handle_order(argv[i]);
        trail_flush(1000000000u, NULL); /* so that what an order caused stands by it */
    }
    trail_shutdown();
    return 0;
}
