/* message.c -- what a program said that it dies of. */
#include "core/crash/message.h"

#include <stdatomic.h>

#include "backtrail/crash.h"
#include "core/crash/exception.h"
#include "core/crash/known_table.h"
#include "core/os/os.h"

/* As glibc keeps what assert(), abort messages and its own checks print: its size,
 * which counts the whole, and the text, which is terminated. */
struct libc_message {
    unsigned int size;
    char text[];
};

static struct trail_known_record records[8];
static struct trail_known_pool pool = { .records = records,
                                        .count = sizeof(records) / sizeof(records[0]) };
static struct trail_known_table said;
static _Atomic uint32_t panicked; /* its key is the thread */
static const struct libc_message *const *libc_message;

void trail_crash_message_init(void)
{
    libc_message = trail_os_library_symbol(NULL, "__abort_msg");
    trail_exception_init();
}

void trail_crash_message_deinit(void)
{
    trail_exception_deinit();
}

void trail_crash_message_set(const char *text)
{
    trail_known_set(&pool, &said, (struct trail_text){ "", 0 }, text);
}

/* The heap that holds it, and the pointer to it, may be what is broken. */
static size_t copy_libc_message(char *message_ret)
{
    const struct libc_message *message;
    unsigned int whole;
    if (!libc_message ||
        trail_os_copy((uintptr_t)libc_message, &message, sizeof(message)) || !message ||
        trail_os_copy((uintptr_t)message, &whole, sizeof(whole)) ||
        whole <= sizeof(*message))
        return 0;
    size_t size = whole - sizeof(*message);
    if (size > TRAIL_CRASH_MESSAGE_SIZE)
        size = TRAIL_CRASH_MESSAGE_SIZE;
    if (trail_os_copy((uintptr_t)message->text, message_ret, size))
        return 0;
    const char *end = memchr(message_ret, 0, size);
    return end ? (size_t)(end - message_ret) : size;
}

void trail_crash_message_panic(const char *text)
{
    int64_t tid = trail_os_tid();
    size_t size = trail_known_clip(text, strlen(text), TRAIL_CRASH_MESSAGE_SIZE);
    trail_known_show(&pool, &panicked, 0,
                     (struct trail_text){ (const char *)&tid, sizeof(tid) },
                     (struct trail_text){ text, size });
}

static size_t copy_panic(char *message_ret)
{
    struct trail_known_copy copy;
    int64_t tid = trail_os_tid();
    if (!trail_known_get(&pool, &panicked, &copy) ||
        memcmp(copy.key, &tid, sizeof(tid)) != 0)
        return 0;
    memcpy(message_ret, copy.value, copy.value_size);
    return copy.value_size;
}

static size_t copy_said(char *message_ret)
{
    struct trail_known_copy copy;
    if (!trail_known_get(&pool, &said.slots[0], &copy))
        return 0;
    memcpy(message_ret, copy.value, copy.value_size);
    return copy.value_size;
}

size_t trail_crash_message(const char *signal,
                           char message_ret[TRAIL_CRASH_MESSAGE_SIZE])
{
    bool is_abort = strcmp(signal, "SIGABRT") == 0;
    size_t size = copy_said(message_ret);
    if (!size && is_abort)
        size = copy_panic(message_ret);
    if (!size && is_abort)
        size = copy_libc_message(message_ret);
    while (size && (message_ret[size - 1] == '\n' || message_ret[size - 1] == ' '))
        size--;
    return size;
}
