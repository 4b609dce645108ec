// SPDX-FileCopyrightText: The Burin developers
// SPDX-License-Identifier: GPL-3.0-or-later
/* faultfile: a file that behaves like a bad drive.
 *
 * usage: faultfile BACKING SIZE MOUNTDIR [fuse options, e.g. -f]
 *
 * Mounts a folder with two files. "drive" is SIZE bytes (a K/M/G suffix is
 * understood) kept in BACKING; put a loop device on it, or give it to QEMU as
 * the file of a drive. "ctl" takes commands, one a line, and reads back the
 * state and the counters:
 *
 *   fail read|write|sync|discard ERRNO [OFFSET LENGTH [COUNT]]
 *                            requests that touch the range fail (EIO 5, ENOSPC 28, ...)
 *   real BYTES wrap|drop     fake capacity: beyond BYTES, writes wrap round to the
 *                            start, or are thrown away and read back as zeros
 *   corrupt OFFSET           from now on a write over this byte stores it inverted
 *   flip OFFSET              inverts this byte in the store now
 *   speed read|write BYTES   bytes a second, 0: no limit
 *   delay read|write|sync MS added to each request
 *   stall | resume           every request hangs, until resume or for a minute
 *   gone                     every request fails with ENODEV, as after a pull
 *   gone-after BYTES         the same by itself once so many bytes were written
 *   reset                    no fault, counters 0
 *
 * Built by tests/e2e.cmake.
 */
#define FUSE_USE_VERSION 31
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <fuse.h>
#include <linux/falloc.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

enum { READ, WRITE, SYNC, DISCARD, KINDS };
static const char *const kind_name[KINDS] = { "read", "write", "sync", "discard" };
#define FAULTS 64

struct fault { int kind, err; off_t off, len; long count; };   /* count < 0: for ever */

static struct state {
    struct fault fault[FAULTS]; int faults;
    off_t corrupt[FAULTS]; int corrupts;
    off_t real; int wrap;                  /* real 0: all of SIZE is there */
    long long speed[KINDS], delay_ms[KINDS], gone_after;
    int stalled, gone;
    long long bytes[KINDS], requests[KINDS], failed[KINDS], syncs;
    struct timespec next[KINDS];           /* when the throttled drive is free again */
} st;

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t wake = PTHREAD_COND_INITIALIZER;
static int backing;
static off_t size;

static off_t number(const char *s)
{
    char *end;
    off_t n = strtoll(s, &end, 0);
    switch (*end | 32) { case 'k': n <<= 10; break; case 'm': n <<= 20; break; case 'g': n <<= 30; break; }
    return n;
}

static int kind_of(const char *s)
{
    for (int k = 0; s && k < KINDS; k++) if (!strcmp(s, kind_name[k])) return k;
    return -1;
}

/* Waits as the drive would; returns 0 or the error (< 0) that the request gets. */
static int admit(int kind, off_t off, off_t len)
{
    int err = 0;
    struct timespec until, now;
    pthread_mutex_lock(&lock);
    /* A test that was killed must not leave processes in the kernel for ever: no stall outlives a minute. */
    clock_gettime(CLOCK_REALTIME, &until);
    until.tv_sec += 60;
    while (st.stalled && !st.gone)
        if (pthread_cond_timedwait(&wake, &lock, &until)) st.stalled = 0;
    st.requests[kind]++;
    clock_gettime(CLOCK_MONOTONIC, &now);
    until = now;
    if (st.speed[kind] > 0) {
        struct timespec *n = &st.next[kind];
        if (n->tv_sec < now.tv_sec || (n->tv_sec == now.tv_sec && n->tv_nsec < now.tv_nsec)) *n = now;
        long long ns = n->tv_nsec + len * 1000000000LL / st.speed[kind];
        n->tv_sec += ns / 1000000000LL; n->tv_nsec = ns % 1000000000LL;
        until = *n;
    }
    until.tv_nsec += st.delay_ms[kind] % 1000 * 1000000L;
    until.tv_sec += st.delay_ms[kind] / 1000 + until.tv_nsec / 1000000000L;
    until.tv_nsec %= 1000000000L;
    if (st.gone) err = -ENODEV;
    for (int i = 0; !err && i < st.faults; i++) {
        struct fault *f = &st.fault[i];
        if (f->kind != kind || !f->count || off >= f->off + f->len || off + len <= f->off) continue;
        if (f->count > 0) f->count--;
        err = -f->err;
    }
    if (err) st.failed[kind]++;
    else {
        st.bytes[kind] += len;
        if (kind == WRITE && st.gone_after && st.bytes[WRITE] >= st.gone_after) st.gone = 1;
    }
    pthread_mutex_unlock(&lock);
    if (!err && (until.tv_sec != now.tv_sec || until.tv_nsec != now.tv_nsec))
        while (clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &until, NULL) == EINTR) ;
    return err;
}

/* Reads or writes, piece by piece, where the bytes really lie. */
static int transfer(int kind, char *buf, off_t off, size_t len)
{
    for (size_t done = 0; done < len;) {
        off_t at = off + done, n = len - done;
        if (st.real && at >= st.real && !st.wrap) {
            if (kind == READ) memset(buf + done, 0, n);
            break;
        }
        if (st.real) {
            at %= st.real;
            if (n > st.real - at) n = st.real - at;
        }
        ssize_t r = kind == READ ? pread(backing, buf + done, n, at) : pwrite(backing, buf + done, n, at);
        if (r < 0) return -errno;
        if (r == 0) { memset(buf + done, 0, n); r = n; }
        done += r;
    }
    return len;
}

static void flip(off_t off)
{
    unsigned char c = 0;
    if (st.real && st.wrap) off %= st.real;
    if (pread(backing, &c, 1, off) >= 0) { c = ~c; if (pwrite(backing, &c, 1, off) < 0) perror("flip"); }
}

static int command(char *line)
{
    char *save, *w[7] = { 0 };
    int n = 0;
    for (char *t = strtok_r(line, " \t\n", &save); t && n < 7; t = strtok_r(NULL, " \t\n", &save)) w[n++] = t;
    if (!n) return 0;
    int k = kind_of(w[1]), ok = 1;
    pthread_mutex_lock(&lock);
    if (!strcmp(w[0], "fail") && k >= 0 && n >= 3 && st.faults < FAULTS)
        st.fault[st.faults++] = (struct fault){ k, number(w[2]), n > 3 ? number(w[3]) : 0,
            n > 4 ? number(w[4]) : size + 1, n > 5 ? number(w[5]) : -1 };
    else if (!strcmp(w[0], "real") && n == 3) { st.real = number(w[1]); st.wrap = !strcmp(w[2], "wrap"); }
    else if (!strcmp(w[0], "corrupt") && n == 2 && st.corrupts < FAULTS) st.corrupt[st.corrupts++] = number(w[1]);
    else if (!strcmp(w[0], "flip") && n == 2) flip(number(w[1]));
    else if (!strcmp(w[0], "speed") && k >= 0 && n == 3) st.speed[k] = number(w[2]);
    else if (!strcmp(w[0], "delay") && k >= 0 && n == 3) st.delay_ms[k] = number(w[2]);
    else if (!strcmp(w[0], "stall")) st.stalled = 1;
    else if (!strcmp(w[0], "resume")) st.stalled = 0;
    else if (!strcmp(w[0], "gone")) st.gone = 1;
    else if (!strcmp(w[0], "gone-after") && n == 2) st.gone_after = number(w[1]);
    else if (!strcmp(w[0], "reset")) memset(&st, 0, sizeof st);
    else ok = 0;
    pthread_cond_broadcast(&wake);
    pthread_mutex_unlock(&lock);
    return ok ? 0 : -EINVAL;
}

static int report(char *out, size_t max)
{
    int n = 0;
    pthread_mutex_lock(&lock);
    for (int k = 0; k < KINDS; k++)
        n += snprintf(out + n, max - n, "%s requests %lld bytes %lld failed %lld\n",
                      kind_name[k], st.requests[k], st.bytes[k], st.failed[k]);
    n += snprintf(out + n, max - n, "size %lld real %lld stalled %d gone %d\n",
                  (long long)size, (long long)(st.real ? st.real : size), st.stalled, st.gone);
    pthread_mutex_unlock(&lock);
    return n;
}

static int is_drive(const char *p) { return !strcmp(p, "/drive"); }
static int is_ctl(const char *p) { return !strcmp(p, "/ctl"); }

static int op_getattr(const char *p, struct stat *s, struct fuse_file_info *fi)
{
    memset(s, 0, sizeof *s);
    if (!strcmp(p, "/")) { s->st_mode = S_IFDIR | 0755; s->st_nlink = 2; }
    else if (is_drive(p)) {
        struct stat b;
        s->st_mode = S_IFREG | 0644; s->st_nlink = 1; s->st_size = size; s->st_blksize = 4096;
        if (!fstat(backing, &b)) s->st_blocks = b.st_blocks;
    }
    else if (is_ctl(p)) { s->st_mode = S_IFREG | 0644; s->st_nlink = 1; s->st_size = 4096; }
    else return -ENOENT;
    return 0;
}

static int op_readdir(const char *p, void *buf, fuse_fill_dir_t fill, off_t off,
                      struct fuse_file_info *fi, enum fuse_readdir_flags fl)
{
    const char *const names[] = { ".", "..", "drive", "ctl" };
    for (int i = 0; i < 4; i++) fill(buf, names[i], NULL, 0, 0);
    return 0;
}

static int op_open(const char *p, struct fuse_file_info *fi)
{
    if (!is_drive(p) && !is_ctl(p)) return -ENOENT;
    fi->direct_io = 1;                     /* nothing of it in the page cache */
    return 0;
}

static int op_truncate(const char *p, off_t n, struct fuse_file_info *fi) { return is_ctl(p) ? 0 : -EPERM; }

static int op_read(const char *p, char *buf, size_t len, off_t off, struct fuse_file_info *fi)
{
    if (is_ctl(p)) {
        char text[4096];
        int n = report(text, sizeof text);
        if (off >= n) return 0;
        if (len > (size_t)(n - off)) len = n - off;
        memcpy(buf, text + off, len);
        return len;
    }
    if (off >= size) return 0;
    if ((off_t)len > size - off) len = size - off;
    int e = admit(READ, off, len);
    return e ? e : transfer(READ, buf, off, len);
}

static int op_write(const char *p, const char *buf, size_t len, off_t off, struct fuse_file_info *fi)
{
    if (is_ctl(p)) {
        char *text = strndup(buf, len), *save;
        int e = 0;
        for (char *l = strtok_r(text, "\n", &save); l && !e; l = strtok_r(NULL, "\n", &save)) e = command(l);
        free(text);
        return e ? e : (int)len;
    }
    if (off >= size || (off_t)len > size - off) return -ENOSPC;
    int e = admit(WRITE, off, len);
    if (e) return e;
    e = transfer(WRITE, (char *)buf, off, len);
    for (int i = 0; i < st.corrupts; i++)
        if (st.corrupt[i] >= off && st.corrupt[i] < off + (off_t)len) flip(st.corrupt[i]);
    return e;
}

static int op_fsync(const char *p, int data, struct fuse_file_info *fi)
{
    if (!is_drive(p)) return 0;
    int e = admit(SYNC, 0, size);
    return e ? e : fdatasync(backing) ? -errno : 0;
}

static int op_fallocate(const char *p, int mode, off_t off, off_t len, struct fuse_file_info *fi)
{
    if (!is_drive(p)) return -EOPNOTSUPP;
    int e = admit(DISCARD, off, len);
    if (e) return e;
    if (st.real) return -EOPNOTSUPP;       /* a fake does not offer it */
    return fallocate(backing, mode, off, len) ? -errno : 0;
}

static void *op_init(struct fuse_conn_info *c, struct fuse_config *cfg)
{
    c->max_write = 1 << 20;
    c->max_background = 64;
    cfg->attr_timeout = cfg->entry_timeout = 3600;
    return NULL;
}

static const struct fuse_operations ops = {
    .init = op_init, .getattr = op_getattr, .readdir = op_readdir, .open = op_open, .truncate = op_truncate,
    .read = op_read, .write = op_write, .fsync = op_fsync, .fallocate = op_fallocate,
};

int main(int argc, char **argv)
{
    if (argc < 4) {
        fprintf(stderr, "usage: faultfile BACKING SIZE MOUNTDIR [fuse options]\n");
        return 2;
    }
    size = number(argv[2]);
    backing = open(argv[1], O_RDWR | O_CREAT, 0600);
    if (backing < 0 || size <= 0) { perror(argv[1]); return 1; }
    argv[2] = argv[0];
    return fuse_main(argc - 2, argv + 2, &ops, NULL);
}
