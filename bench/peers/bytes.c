/* Reads all bytes of a file and does nothing with them: what no reader of it can do without. Threads share it in pieces
   of 8 MiB. "read" copies them to a buffer of 1 MiB, as gputime does; "mapped" maps a piece at a time and touches every
   line of the CPU's cache, which was the cheapest of all ways that were tried.

       bytes read|mapped THREADS FILE */
#include <fcntl.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

enum { PIECE_BYTES = 8 << 20, BUFFER_BYTES = 1 << 20, LINE_BYTES = 64, MAX_THREADS = 64 };

static int fd;
static uint64_t size_bytes;
static int is_mapped;
static _Atomic uint64_t next_piece, sum;

static uint64_t touch(const unsigned char *bytes, size_t count) {
    uint64_t touched = 0;
    for (size_t i = 0; i < count; i += LINE_BYTES)
        touched += bytes[i];
    return touched;
}

static void die(const char *what) {
    perror(what);
    exit(1);
}

static uint64_t read_piece(unsigned char *buffer, uint64_t from, uint64_t to) {
    uint64_t touched = 0;
    while (from < to) {
        size_t wanted = to - from < BUFFER_BYTES ? (size_t)(to - from) : BUFFER_BYTES;
        ssize_t got = pread(fd, buffer, wanted, (off_t)from);
        if (got <= 0)
            die("bytes: read");
        touched += touch(buffer, (size_t)got);
        from += (uint64_t)got;
    }
    return touched;
}

static uint64_t map_piece(uint64_t from, uint64_t to) {
    size_t count = (size_t)(to - from);
    void *pages = mmap(NULL, count, PROT_READ, MAP_PRIVATE, fd, (off_t)from);
    if (pages == MAP_FAILED)
        die("bytes: mmap");
    uint64_t touched = touch(pages, count);
    munmap(pages, count);
    return touched;
}

static void *work(void *unused) {
    unsigned char *buffer = aligned_alloc(4096, BUFFER_BYTES);
    uint64_t from, touched = 0;
    if (!buffer)
        die("bytes");
    while ((from = atomic_fetch_add(&next_piece, 1) * PIECE_BYTES) < size_bytes) {
        uint64_t to = size_bytes - from < PIECE_BYTES ? size_bytes : from + PIECE_BYTES;
        touched += is_mapped ? map_piece(from, to) : read_piece(buffer, from, to);
    }
    sum += touched;
    free(buffer);
    return unused;
}

int main(int argc, char **argv) {
    pthread_t threads[MAX_THREADS];
    struct stat info;
    int count = argc == 4 ? atoi(argv[2]) : 0;
    if (count < 1 || count > MAX_THREADS) {
        fprintf(stderr, "usage: bytes read|mapped THREADS FILE\n");
        return 2;
    }
    is_mapped = strcmp(argv[1], "mapped") == 0;
    fd = open(argv[3], O_RDONLY);
    if (fd < 0 || fstat(fd, &info) != 0)
        die(argv[3]);
    size_bytes = (uint64_t)info.st_size;
    for (int i = 1; i < count; i++)
        if (pthread_create(&threads[i], NULL, work, NULL) != 0)
            die("bytes: thread");
    work(NULL);
    for (int i = 1; i < count; i++)
        pthread_join(threads[i], NULL);
    printf("bytes %llu sum %llu\n", (unsigned long long)size_bytes, (unsigned long long)sum);
    return 0;
}
