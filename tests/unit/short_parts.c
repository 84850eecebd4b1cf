/* Sealing as the library has it, but with parts of columns so short that small tables are copied by several threads.
   Linked into the tests that look at what builders together make; it stands in for the file of the library. */
#define GT_SEAL_PART_BYTES ((size_t)64)
#include "events/seal_rows.c"
