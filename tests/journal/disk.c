/* Stands before the system's calls (LD_PRELOAD) for files below DISK_ROOT: notes them in DISK_LOG, in order, and lets
   them fail as the file DISK_FAULT says: "CALL ERRNO PART", for paths that contain PART. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define FILES 4096
static char *paths[FILES];
static int log_fd = -1;
static const char *root, *fault_file;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

#define REAL(name) static __typeof__(&name) real; if (!real) real = (__typeof__(&name))dlsym(RTLD_NEXT, #name)

static int real_open(const char *path, int flags, mode_t mode) {
    static int (*real)(const char *, int, ...);
    if (!real) real = (int (*)(const char *, int, ...))dlsym(RTLD_NEXT, "open");
    return real(path, flags, mode);
}
static ssize_t real_write(int fd, const void *data, size_t size) { REAL(write); return real(fd, data, size); }
static int real_close(int fd) { REAL(close); return real(fd); }

__attribute__((constructor)) static void begin(void) {
    root = getenv("DISK_ROOT");
    fault_file = getenv("DISK_FAULT");
    const char *log = getenv("DISK_LOG");
    if (root && log) log_fd = real_open(log, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0644);
}

static int ours(const char *path) { return root && path && strncmp(path, root, strlen(root)) == 0; }
static const char *of(int fd) { return fd >= 0 && fd < FILES ? paths[fd] : NULL; }

static void note(const char *call, const char *path, long long offset, const void *data, size_t size) {
    char head[8192];
    if (log_fd < 0) return;
    int length = snprintf(head, sizeof head, "%s\t%s\t%lld\t%zu\n", call, path, offset, size);
    pthread_mutex_lock(&lock);
    real_write(log_fd, head, length);
    if (size) real_write(log_fd, data, size);
    pthread_mutex_unlock(&lock);
}

static int fails(const char *call, const char *path) {
    char text[512], what[64], part[256];
    int code;
    if (!fault_file || !path) return 0;
    int fd = real_open(fault_file, O_RDONLY, 0);
    if (fd < 0) return 0;
    ssize_t got = read(fd, text, sizeof text - 1);
    real_close(fd);
    if (got <= 0) return 0;
    text[got] = 0;
    if (sscanf(text, "%63s %d %255s", what, &code, part) != 3) return 0;
    if (strcmp(what, call) || !strstr(path, part)) return 0;
    errno = code;
    return 1;
}

static int opened(const char *path, int flags, mode_t mode) {
    struct stat there;
    int fresh = ours(path) && (flags & O_CREAT) && stat(path, &there) != 0;
    int fd = real_open(path, flags, mode);
    if (fd >= 0 && fd < FILES && ours(path)) {
        free(paths[fd]);
        paths[fd] = strdup(path);
        if (fresh) note("create", path, 0, NULL, 0);
        else if (flags & O_TRUNC) note("truncate", path, 0, NULL, 0);
    }
    return fd;
}

#define OPEN(name) \
    int name(const char *path, int flags, ...) { \
        va_list more; va_start(more, flags); mode_t mode = va_arg(more, mode_t); va_end(more); \
        return opened(path, flags, mode); \
    }
OPEN(open)
OPEN(open64)

int close(int fd) {
    if (fd >= 0 && fd < FILES && paths[fd]) { free(paths[fd]); paths[fd] = NULL; }
    return real_close(fd);
}

ssize_t write(int fd, const void *data, size_t size) {
    const char *path = of(fd);
    if (!path) return real_write(fd, data, size);
    if (fails("write", path)) return -1;
    struct stat now;
    int append = fcntl(fd, F_GETFL) & O_APPEND;
    long long at = append && fstat(fd, &now) == 0 ? (long long)now.st_size : (long long)lseek(fd, 0, SEEK_CUR);
    ssize_t done = real_write(fd, data, size);
    if (done > 0) note("write", path, at, data, done);
    return done;
}

#define PWRITE(name, offset_t) \
    ssize_t name(int fd, const void *data, size_t size, offset_t at) { \
        const char *path = of(fd); \
        if (path && fails("write", path)) return -1; \
        REAL(name); \
        ssize_t done = real(fd, data, size, at); \
        if (path && done > 0) note("write", path, at, data, done); \
        return done; \
    }
PWRITE(pwrite, off_t)
PWRITE(pwrite64, off64_t)

#define SYNC(name) \
    int name(int fd) { \
        const char *path = of(fd); \
        if (path && fails("fsync", path)) return -1; \
        REAL(name); \
        int done = real(fd); \
        if (path && done == 0) note("fsync", path, 0, NULL, 0); \
        return done; \
    }
SYNC(fsync)
SYNC(fdatasync)

#define TRUNCATE(name, offset_t) \
    int name(int fd, offset_t size) { \
        REAL(name); \
        const char *path = of(fd); \
        int done = real(fd, size); \
        if (path && done == 0) note("truncate", path, size, NULL, 0); \
        return done; \
    }
TRUNCATE(ftruncate, off_t)
TRUNCATE(ftruncate64, off64_t)

int unlink(const char *path) {
    REAL(unlink);
    int done = real(path);
    if (done == 0 && ours(path)) note("unlink", path, 0, NULL, 0);
    return done;
}

int rename(const char *from, const char *to) {
    REAL(rename);
    int done = real(from, to);
    if (done == 0 && ours(from)) note("rename", from, 0, to, strlen(to));
    return done;
}
