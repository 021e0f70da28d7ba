/* doctor_program.c -- functions with frames, for `backtrail doctor` to look at; built
 * once with frame pointers and once without. */
#include <stdio.h>

int doctor_outer(int depth);
int doctor_middle(int depth, const char *text);

__attribute__((noinline)) int doctor_middle(int depth, const char *text)
{
    volatile int room[32];
    for (int i = 0; i < 32; i++)
        room[i] = depth + i;
    return printf("%s %d\n", text, room[depth & 31]);
}

__attribute__((noinline)) int doctor_outer(int depth)
{
    int sum = doctor_middle(depth, "one");
    return sum + doctor_middle(depth + sum, "two");
}

int main(int argc, char **argv)
{
    (void)argv;
    return doctor_outer(argc) + doctor_outer(argc + 1) > 1000;
}
