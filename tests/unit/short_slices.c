/* Threads as the library has them, but with slices so short that small traces are cut into several. Linked into the
   tests that look at what slices do; it stands in for the file of the library. */
#define GT_THREADS_LEAST_ROWS 16
#include "base/threads.c"
