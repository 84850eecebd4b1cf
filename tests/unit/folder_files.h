/* How many files a folder has: tests that write in one see whether a temporary file was left. */
#ifndef TESTS_UNIT_FOLDER_FILES_H
#define TESTS_UNIT_FOLDER_FILES_H

#include <dirent.h>
#include <stddef.h>

static inline size_t files_in(const char *folder) {
    DIR *dir = opendir(folder);
    size_t count = 0;
    while (readdir(dir))
        count++;
    closedir(dir);
    return count - 2; /* "." and ".." */
}

#endif
