/* symbols.c -- prints its own stack as glibc does. */
#include <execinfo.h>
#include <stdio.h>

int innermost(int n);
int middle(int n);

int innermost(int n)
{
    void *addresses[16];
    int count = backtrace(addresses, 16);
    backtrace_symbols_fd(addresses, count, 1);
    return n + count;
}
int middle(int n)
{
    int got = innermost(n);
    return got + 1;
}
int main(void)
{
    int count = middle(1);
    printf("text between [0x%x]\n", (unsigned)count);
    return 0;
}
