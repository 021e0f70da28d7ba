/* terminal.c -- a terminal for tests: runs a program on one and prints what it shows.
 *
 *   cli_terminal [-w COLUMNS] [-o FILE] [-f FILE -u TEXT] PROGRAM [ARGUMENT...]
 *
 * Standard output and error of the program are the terminal; with -o its output goes to
 * a file instead. With -f it is fed that file on standard input, over and over, until
 * TEXT has been seen on the terminal, and then to its end. Ends with the program's exit
 * code.
 */
#define _GNU_SOURCE

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <pty.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <termios.h>
#include <unistd.h>

struct options {
    unsigned short columns;
    const char *output, *feed, *until;
};

/* What the terminal has shown last. */
struct shown {
    char text[1 << 16];
    size_t size;
};

#define KEPT_SIZE 4096

static void die(const char *what)
{
    perror(what);
    exit(99);
}

/* In the child: `feed_fd` is its standard input, -1: it has none. */
static void start(const struct options *options, int feed_fd, char **program)
{
    int in = feed_fd >= 0 ? feed_fd : open("/dev/null", O_RDONLY);
    if (in < 0 || dup2(in, 0) < 0)
        die("standard input");
    if (options->output) {
        int out = open(options->output, O_WRONLY | O_CREAT | O_TRUNC, 0600);
        if (out < 0 || dup2(out, 1) < 0)
            die(options->output);
    }
    execvp(program[0], program);
    die(program[0]);
}

/* False: the program has left the terminal. */
static int take(int master, struct shown *shown)
{
    if (shown->size >= sizeof(shown->text) / 2) {
        memmove(shown->text, shown->text + shown->size - KEPT_SIZE, KEPT_SIZE);
        shown->size = KEPT_SIZE;
    }
    char *to = shown->text + shown->size;
    ssize_t got = read(master, to, sizeof(shown->text) - 1 - shown->size);
    if (got <= 0)
        return got < 0 && errno == EINTR;
    fwrite(to, 1, (size_t)got, stdout);
    shown->size += (size_t)got;
    shown->text[shown->size] = 0;
    return 1;
}

/* Write a part of the feed; once it is `enough`, only to its end. False: that is
 * reached. */
static int feed_some(int fd, const char *text, size_t size, size_t *at, int enough)
{
    size_t part = size - *at;
    if (enough && *at == 0)
        return 0;
    ssize_t put = write(fd, text + *at, part);
    if (put > 0)
        *at = (*at + (size_t)put) % size;
    return put >= 0 || errno == EAGAIN || errno == EINTR;
}

/* Show what comes, and feed until it is enough. */
static void serve(int master, int feed_fd, const char *text, size_t size,
                  const char *until)
{
    static struct shown shown;
    size_t at = 0;
    int enough = 0;
    for (;;) {
        struct pollfd fds[] = { { .fd = master, .events = POLLIN },
                                { .fd = feed_fd, .events = POLLOUT } };
        if (poll(fds, 2, -1) < 0 && errno != EINTR)
            die("poll");
        if (fds[0].revents && !take(master, &shown))
            break;
        enough = enough || strstr(shown.text, until);
        if (feed_fd < 0 || !fds[1].revents)
            continue;
        if (!feed_some(feed_fd, text, size, &at, enough)) {
            close(feed_fd);
            feed_fd = -1;
        }
    }
}

static char *read_feed(const char *path, size_t *size_ret)
{
    static char text[1 << 16];
    FILE *file = fopen(path, "r");
    if (!file)
        die(path);
    *size_ret = fread(text, 1, sizeof(text), file);
    fclose(file);
    return text;
}

static int run(const struct options *options, char **program)
{
    struct winsize size = { .ws_row = 24, .ws_col = options->columns };
    struct termios raw = { .c_cflag = CS8 | CREAD };
    int master, status = 0, feed[2] = { -1, -1 };
    if (options->feed && pipe(feed))
        die("pipe");
    pid_t child = forkpty(&master, NULL, &raw, &size);
    if (child < 0)
        die("forkpty");
    if (child == 0) {
        if (feed[1] >= 0)
            close(feed[1]);
        start(options, feed[0], program);
    }
    size_t feed_size = 0;
    char *text = options->feed ? read_feed(options->feed, &feed_size) : NULL;
    if (feed[0] >= 0) {
        close(feed[0]);
        fcntl(feed[1], F_SETFL, O_NONBLOCK);
    }
    serve(master, feed[1], text, feed_size, options->until);
    if (waitpid(child, &status, 0) != child)
        die("waitpid");
    return WIFEXITED(status) ? WEXITSTATUS(status) : 98;
}

int main(int argc, char **argv)
{
    struct options options = { .columns = 0, .until = "" };
    int letter;
    signal(SIGPIPE, SIG_IGN);
    while ((letter = getopt(argc, argv, "+w:o:f:u:")) != -1) {
        if (letter == 'w')
            options.columns = (unsigned short)strtoul(optarg, NULL, 10);
        else if (letter == 'o')
            options.output = optarg;
        else if (letter == 'f')
            options.feed = optarg;
        else if (letter == 'u')
            options.until = optarg;
        else
            return 99;
    }
    return optind < argc ? run(&options, argv + optind) : 99;
}
