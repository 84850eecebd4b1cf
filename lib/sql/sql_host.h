/* SQLite, linked or, inside an extension, as the program that loads it has it. */
#ifndef GT_SQL_SQL_HOST_H
#define GT_SQL_SQL_HOST_H

#ifdef GT_SQL_EXTENSION
#include <sqlite3ext.h>
extern const sqlite3_api_routines *sqlite3_api; /* extension.c has it: SQLite's macros name it so */
#else
#include <sqlite3.h>
#endif

#endif
