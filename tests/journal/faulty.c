/* faulty.c -- a file system under SQLite in which a write fails, or is the last. */
#define _POSIX_C_SOURCE 200809L

#include "faulty.h"

#include <sqlite3.h>
#include <unistd.h>

struct faulty faulty;
static sqlite3_vfs *real, shim;
static sqlite3_io_methods methods;

/* SQLite hands out memory for this and, behind it, for the real file. */
struct file {
    sqlite3_file base;
    sqlite3_file *real;
};

static sqlite3_file *real_of(sqlite3_file *file)
{
    return ((struct file *)(void *)file)->real;
}

static int fault(void)
{
    uint64_t now = ++faulty.done;
    if (faulty.first == 0 || now < faulty.first || now >= faulty.first + faulty.count)
        return SQLITE_OK;
    if (faulty.result < 0)
        _exit(9);
    return faulty.result;
}

static int file_close(sqlite3_file *file)
{
    return real_of(file)->pMethods->xClose(real_of(file));
}

static int file_read(sqlite3_file *file, void *to, int size, sqlite3_int64 offset)
{
    return real_of(file)->pMethods->xRead(real_of(file), to, size, offset);
}

/* Half of what was to be written may have been, as on a real disk. */
static int file_write(sqlite3_file *file, const void *from, int size,
                      sqlite3_int64 offset)
{
    int result = fault();
    int some = result ? size / 2 : size;
    int wrote = real_of(file)->pMethods->xWrite(real_of(file), from, some, offset);
    return result ? result : wrote;
}

static int file_truncate(sqlite3_file *file, sqlite3_int64 size)
{
    int result = fault();
    return result ? result : real_of(file)->pMethods->xTruncate(real_of(file), size);
}

static int file_sync(sqlite3_file *file, int flags)
{
    int result = fault();
    return result ? result : real_of(file)->pMethods->xSync(real_of(file), flags);
}

static int file_size(sqlite3_file *file, sqlite3_int64 *size_ret)
{
    return real_of(file)->pMethods->xFileSize(real_of(file), size_ret);
}

static int file_lock(sqlite3_file *file, int level)
{
    return real_of(file)->pMethods->xLock(real_of(file), level);
}

static int file_unlock(sqlite3_file *file, int level)
{
    return real_of(file)->pMethods->xUnlock(real_of(file), level);
}

static int file_reserved(sqlite3_file *file, int *is_ret)
{
    return real_of(file)->pMethods->xCheckReservedLock(real_of(file), is_ret);
}

static int file_control(sqlite3_file *file, int what, void *arg)
{
    return real_of(file)->pMethods->xFileControl(real_of(file), what, arg);
}

static int file_sector(sqlite3_file *file)
{
    return real_of(file)->pMethods->xSectorSize(real_of(file));
}

static int file_device(sqlite3_file *file)
{
    return real_of(file)->pMethods->xDeviceCharacteristics(real_of(file));
}

static int vfs_open(sqlite3_vfs *vfs, const char *name, sqlite3_file *file, int flags,
                    int *flags_ret)
{
    struct file *ours = (struct file *)(void *)file;
    (void)vfs;
    ours->real = (sqlite3_file *)(void *)(ours + 1);
    ours->base.pMethods = NULL;
    int result = real->xOpen(real, name, ours->real, flags, flags_ret);
    if (ours->real->pMethods)
        ours->base.pMethods = &methods;
    return result;
}

void faulty_install(void)
{
    if (real)
        return;
    methods = (sqlite3_io_methods){ .iVersion = 1,
                                    .xClose = file_close,
                                    .xRead = file_read,
                                    .xWrite = file_write,
                                    .xTruncate = file_truncate,
                                    .xSync = file_sync,
                                    .xFileSize = file_size,
                                    .xLock = file_lock,
                                    .xUnlock = file_unlock,
                                    .xCheckReservedLock = file_reserved,
                                    .xFileControl = file_control,
                                    .xSectorSize = file_sector,
                                    .xDeviceCharacteristics = file_device };
    real = sqlite3_vfs_find(NULL);
    shim = *real;
    shim.zName = "faulty";
    shim.szOsFile = (int)sizeof(struct file) + real->szOsFile;
    shim.xOpen = vfs_open;
    sqlite3_vfs_register(&shim, 1);
}
