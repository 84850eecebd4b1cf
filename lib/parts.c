/* The versions of the libraries of this build, as text. */
#include <lz4.h>
#define PCRE2_CODE_UNIT_WIDTH 8
#include <pcre2.h>
#include <sqlite3.h>
#include <stdio.h>
#include <string.h>
#include <zstd.h>
#ifdef GT_HAVE_ISAL
#include <isa-l.h>
#else
#include <zlib.h>
#endif
#ifdef GT_HAVE_LZMA
#include <lzma.h>
#endif

#ifdef GT_HAVE_MICROHTTPD
#include "serve/serve_library.h"
#endif

#include "internal.h"
#include "write/page.h"

#ifdef GT_STATIC
#define LINKAGE "static"
#else
#define LINKAGE "dynamic"
#endif

#ifdef GT_HAVE_ISAL
/* ISA-L has no function for it: the version at build time. */
static void gzip_library(char *text, size_t capacity) {
    snprintf(text, capacity, "ISA-L %d.%d.%d", ISAL_MAJOR_VERSION, ISAL_MINOR_VERSION, ISAL_PATCH_VERSION);
}
#else
static void gzip_library(char *text, size_t capacity) {
    snprintf(text, capacity, "zlib %s", zlibVersion());
}
#endif

static const char *xz_library(void) {
#ifdef GT_HAVE_LZMA
    return lzma_version_string();
#else
    return NULL;
#endif
}

/* It is loaded only when it is used. */
static const char *server_library(void) {
#ifdef GT_HAVE_MICROHTTPD
    struct gt_serve_library library;
    struct gt_error err;
    return gt_serve_library_load(&library, &err) == GT_OK ? library.get_version() : NULL;
#else
    return NULL;
#endif
}

API size_t gputime_parts(char *text, size_t capacity) {
    char gzip[32], pcre2[64] = ""; /* "10.42 2022-12-11" */
    gzip_library(gzip, sizeof gzip);
    if (pcre2_config(PCRE2_CONFIG_VERSION, NULL) <= (int)sizeof pcre2)
        pcre2_config(PCRE2_CONFIG_VERSION, pcre2);
    pcre2[strcspn(pcre2, " ")] = '\0';
    const char *server = server_library();
    int length =
        snprintf(text, capacity, "%s build with %s, zstd %s, %s%s, lz4 %s, SQLite %s, PCRE2 %s, %s%s, %s", LINKAGE,
                 gzip, ZSTD_versionString(), xz_library() ? "xz " : "no xz", xz_library() ? xz_library() : "",
                 LZ4_versionString(), sqlite3_libversion(), pcre2, server ? "libmicrohttpd " : "no server",
                 server ? server : "", gt_page_bytes ? "page" : "no page");
    return length < 0 ? 0 : (size_t)length;
}
