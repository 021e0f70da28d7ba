/* packed.c -- how many bytes a packed frame takes, on the stacks of mallocs in python3,
 * cc1plus and perl.
 *
 * usage: packed HOOK, the library of packed_hook.c. Prints a line a program that starts
 * with "#", and two figures: those of the program that comes off worst.
 */
#define _POSIX_C_SOURCE 200809L
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "bench/measure.h"

static const struct program {
    const char *name, *command; /* for sh; $RUN starts a program with the hook */
} programs[] = {
    { "python3",
      "PACKED_EVERY=8 $RUN python3 -c '"
      "import ast, email, inspect, json, re\n"
      "for m in json, re, ast, inspect, email:\n"
      "    compile(ast.parse(inspect.getsource(m)), \"x\", \"exec\")\n"
      "s = json.dumps([{\"a\": i, \"b\": [str(i)] * 5} for i in range(3000)])\n"
      "json.loads(s)'" },
    { "cc1plus", "printf '%s\\n' '#include <map>' '#include <string>' "
                 "'#include <iostream>' 'int main() { std::map<std::string, int> m; "
                 "m[\"a\"] = 1; std::cout << m[\"a\"]; }' | PACKED_EVERY=16 $RUN "
                 "$(gcc -print-prog-name=cc1plus) -quiet -O2 -D_GNU_SOURCE "
                 "-imultiarch $(gcc -print-multiarch) - -o /dev/null" },
    { "perl",
      "PACKED_EVERY=16 $RUN perl -e 'my %h; for (1 .. 60000) "
      "{ $h{\"k$_\"} = \"v$_\" x 3 } my @s = sort { $h{$a} cmp $h{$b} } keys %h; "
      "print join(\",\", map { s/1/2/r } @s)'" },
};

struct counted {
    unsigned long stacks, frames, raw, alone, shared, wrong;
};

/* False: the program is not there, or did not run to its end. */
static int run(const struct program *program, const char *out, struct counted *counted)
{
    unsigned long *const fields[] = { &counted->stacks, &counted->frames,
                                      &counted->raw,    &counted->alone,
                                      &counted->shared, &counted->wrong };
    char text[256] = "", *at = text;
    int status;
    fflush(NULL); /* or the child writes it too */
    pid_t child = fork();
    if (child == 0) {
        if (freopen("/dev/null", "w", stdout) && freopen("/dev/null", "w", stderr))
            execl("/bin/sh", "sh", "-c", program->command, (char *)NULL);
        _exit(127);
    }
    if (child < 0 || waitpid(child, &status, 0) != child || status != 0)
        return 0;
    FILE *file = fopen(out, "r");
    if (!file || !fgets(text, sizeof(text), file))
        text[0] = 0;
    if (file)
        fclose(file);
    remove(out);
    for (size_t i = 0; i < sizeof(fields) / sizeof(fields[0]); i++)
        *fields[i] = strtoul(at, &at, 10);
    return counted->frames > 0;
}

static int measure(const char *hook, const char *out)
{
    char start[4096];
    double alone = 0, shared = 0;
    int failed = 0;
    snprintf(start, sizeof(start), "env LD_PRELOAD=%s PACKED_OUT=%s", hook, out);
    setenv("RUN", start, 1);
    for (size_t i = 0; i < sizeof(programs) / sizeof(programs[0]); i++) {
        struct counted counted;
        if (!run(&programs[i], out, &counted)) {
            printf("# packed %s: skipped, it is not installed or does not run\n",
                   programs[i].name);
            continue;
        }
        double frames = (double)counted.frames;
        double alone_here = (double)counted.alone / frames;
        double shared_here = (double)counted.shared / frames;
        printf("# packed %s: %lu stacks of %.1f frames, alone %.3f, shared %.3f bytes "
               "a frame, %lu wrong\n",
               programs[i].name, counted.stacks, frames / (double)counted.stacks,
               alone_here, shared_here, counted.wrong);
        alone = alone_here > alone ? alone_here : alone;
        shared = shared_here > shared ? shared_here : shared;
        failed |= counted.wrong != 0;
    }
    measure_print("packed_bytes_frame", alone, "B");
    measure_print("packed_shared_bytes_frame", shared, "B");
    return failed || alone == 0;
}

int main(int argc, char **argv)
{
    char directory[] = "/tmp/packed-XXXXXX", out[64];
    if (argc != 2) {
        fprintf(stderr, "usage: %s HOOK.so\n", argv[0]);
        return 2;
    }
    if (!mkdtemp(directory)) {
        perror(directory);
        return 1;
    }
    snprintf(out, sizeof(out), "%s/out", directory);
    int failed = measure(argv[1], out);
    rmdir(directory);
    return failed;
}
