/* aliases.c -- code under several names, for a test of which of them is told. */
int outer(int x);
int __plain(int x);
extern int outer_again(int x) __attribute__((alias("outer")));
extern int _weak(int x) __attribute__((alias("outer"), weak));
static int local_of_outer(int x) __attribute__((alias("outer"), used));
extern int plain(int x) __attribute__((weak, alias("__plain")));
extern int ___plain(int x) __attribute__((alias("__plain")));

int outer(int x)
{
    return 3 * x + 1;
}

int __plain(int x)
{
    return 5 * x + 2;
}

int main(int argc, char **argv)
{
    (void)argv;
    return outer(argc) + __plain(argc);
}
