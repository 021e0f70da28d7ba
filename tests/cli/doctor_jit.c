/* doctor_jit.c -- code that is in no file, as runtimes generate it.
 *
 * In anonymous memory, in shared memory, and in a memory file. Prints a line when all
 * of it is mapped. */
#define _GNU_SOURCE

#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

static void map_code(int fd, int flags)
{
    void *code = mmap(NULL, 4096, PROT_READ | PROT_EXEC, flags, fd, 0);
    if (code == MAP_FAILED) {
        perror("mmap");
        exit(1);
    }
}

int main(void)
{
    int fd = memfd_create("jit", MFD_CLOEXEC);
    if (fd < 0 || ftruncate(fd, 4096)) {
        perror("memfd_create");
        return 1;
    }
    map_code(-1, MAP_PRIVATE | MAP_ANONYMOUS);
    map_code(-1, MAP_SHARED | MAP_ANONYMOUS);
    map_code(fd, MAP_SHARED);
    puts("mapped");
    fflush(stdout);
    pause();
    return 0;
}
