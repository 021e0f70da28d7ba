/* places.c -- where an agent keeps what it has, and that it is the only one there. */
#define _DEFAULT_SOURCE
#define _XOPEN_SOURCE 700

#include "agent/daemon/places.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "core/os/os.h"
#include "core/setup.h"

/* Others can put files in, and neither list them, nor read or remove another's. */
#define INBOX_MODE  03733
#define STATE_MODE  0711
#define SECRET_MODE 0700

static enum trail_status join(const struct places *places, const char *name,
                              char path_ret[PLACE_SIZE], struct trail_error *err)
{
    int length = snprintf(path_ret, PLACE_SIZE, "%s/%s", places->state, name);
    if (length < 0 || length >= PLACE_SIZE)
        return trail_fail(err, TRAIL_BAD_INPUT, "state: %.80s...: the path is too long",
                          places->state);
    return TRAIL_OK;
}

static enum trail_status take_given(const char *given, const char *key,
                                    char path_ret[PLACE_SIZE], struct trail_error *err)
{
    if (!given)
        return TRAIL_OK;
    if (strlen(given) >= PLACE_SIZE)
        return trail_fail(err, TRAIL_BAD_INPUT, "%s: %.80s...: the path is too long",
                          key, given);
    memcpy(path_ret, given, strlen(given) + 1);
    return TRAIL_OK;
}

enum trail_status places_of(const struct trail_config *config,
                            struct places *places_ret, struct trail_error *err)
{
    struct places *places = places_ret;
    const struct {
        const char *name;
        char *path;
    } rows[] = {
        { "inbox", places->inbox },
        { "agent.sock", places->socket },
        { "record", places->record },
        { "rejected", places->rejected },
        { "control.sock", places->control },
        { "agent.lock", places->lock },
        { "channels.json", places->channels },
        { "resolving", places->resolving },
    };
    enum trail_status status = TRAIL_OK;
    trail_setup_state_directory(config, places->state, sizeof(places->state));
    for (size_t i = 0; !status && i < sizeof(rows) / sizeof(rows[0]); i++)
        status = join(places, rows[i].name, rows[i].path, err);
    if (!status)
        status = take_given(config->agent.inbox, "agent.inbox", places->inbox, err);
    if (!status)
        status = take_given(config->agent.socket, "agent.socket", places->socket, err);
    return status;
}

/* ---- directories -------------------------------------------------------- */

/* root's is entered by everybody, to reach the inbox and the sockets, and listed by
 * nobody else; whoever keeps copies of plugins in it may have made it before. */
static enum trail_status make_state(const char *path, struct trail_error *err)
{
    bool is_root = trail_os_user() == 0;
    enum trail_status status =
        trail_os_directory_make(path, is_root ? STATE_MODE : SECRET_MODE, err);
    if (!status && is_root && chmod(path, STATE_MODE))
        status = trail_fail(err, TRAIL_IO, "%s: %s", path, strerror(errno));
    return status;
}

/* root's inbox is for everybody; a user's is for that user, until he opens it. */
static enum trail_status make_inbox(const char *path, struct trail_error *err)
{
    struct stat st;
    if (stat(path, &st) == 0)
        return TRAIL_OK;
    enum trail_status status = trail_os_directory_make(path, SECRET_MODE, err);
    if (!status && trail_os_user() == 0 && chmod(path, INBOX_MODE))
        status = trail_fail(err, TRAIL_IO, "%s: %s", path, strerror(errno));
    return status;
}

static enum trail_status check_inbox(const char *path, struct trail_error *err)
{
    struct trail_os_stat found;
    enum trail_status status = trail_os_stat_path(path, &found, err);
    if (status)
        return status;
    if (!found.directory)
        return trail_fail(err, TRAIL_BAD_INPUT, "%s: is no directory", path);
    if (found.owner != trail_os_user())
        return trail_fail(err, TRAIL_REFUSED,
                          "%s: belongs to user %u; make it belong to the agent's, %u",
                          path, found.owner, trail_os_user());
    if ((found.other_writable || found.group_writable) && !found.sticky)
        return trail_fail(err, TRAIL_REFUSED,
                          "%s: others could take traces away; chmod 3733 it", path);
    return TRAIL_OK;
}

enum trail_status places_prepare(const struct places *places, struct trail_error *err)
{
    enum trail_status status = make_state(places->state, err);
    if (!status)
        status = trail_os_directory_make(places->record, SECRET_MODE, err);
    if (!status)
        status = trail_os_directory_make(places->rejected, SECRET_MODE, err);
    if (!status)
        status = make_inbox(places->inbox, err);
    return status ? status : check_inbox(places->inbox, err);
}

/* ---- the lock ----------------------------------------------------------- */

static void tell_holder(int fd, const char *path, struct trail_error *err)
{
    char pid[24] = "";
    ssize_t size = pread(fd, pid, sizeof(pid) - 1, 0);
    pid[size > 0 ? size : 0] = 0;
    pid[strcspn(pid, "\n")] = 0;
    trail_fail(err, TRAIL_REFUSED,
               "%s: an agent runs on this state directory already%s%s", path,
               pid[0] ? ", process " : "", pid);
}

enum trail_status places_lock(const struct places *places, int *fd_ret,
                              struct trail_error *err)
{
    char pid[24];
    int fd = open(places->lock, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600);
    if (fd < 0)
        return trail_fail(err, TRAIL_IO, "%s: %s", places->lock, strerror(errno));
    if (flock(fd, LOCK_EX | LOCK_NB)) {
        tell_holder(fd, places->lock, err);
        close(fd);
        return TRAIL_REFUSED;
    }
    int length = snprintf(pid, sizeof(pid), "%lld\n", (long long)trail_os_pid());
    /* Who holds it is only for messages: a full disk must not keep an agent away. */
    if (ftruncate(fd, 0) == 0 && length > 0 &&
        pwrite(fd, pid, (size_t)length, 0) == length)
        fsync(fd);
    *fd_ret = fd;
    return TRAIL_OK;
}
