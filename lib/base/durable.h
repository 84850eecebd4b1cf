/* What is to be there after the power fails: bytes of a file, and the names in a folder, each by a sync of its own. */
#ifndef GT_BASE_DURABLE_H
#define GT_BASE_DURABLE_H

#include <stdbool.h>
#include <stdint.h>

/* Lets the system begin with some bytes of an open file while more are made, so that the sync has less to wait for. */
void gt_durable_begin(int fd, int64_t offset, int64_t bytes);

/* Finds room on the disk for bytes that are to come, all at once instead of write by write, which halves what writing a
   long file costs. Its size stays. false: the file system cannot, or is full. */
bool gt_durable_reserve(int fd, int64_t offset, int64_t bytes);

/* Gives back what was found beyond the size of the file. */
void gt_durable_trim(int fd, int64_t size);

/* The bytes of an open file. -1 with errno; a file system that cannot do it is no failure. */
int gt_durable_sync(int fd);

/* That a path names what it names now, or nothing. Done as well as the system allows. */
void gt_durable_name(const char *path);

/* As mkdir, for good. */
int gt_durable_make_folder(const char *path);

#endif
