/* Loads libmicrohttpd: its name comes from the build, its functions go out. */
#ifdef GT_HAVE_MICROHTTPD
#include "serve/serve_library.h"

#include <dlfcn.h>
#include <stdbool.h>
#include <string.h>

#define TEXT_OF(name) #name
#define TEXT(macro)   TEXT_OF(macro)
#define LIBRARY       TEXT(GT_HAVE_MICROHTTPD) /* as in "libmicrohttpd.so.12" */

/* POSIX lets a pointer to data be one to a function, C does not. */
static bool find(void *handle, const char *name, void *function) {
    void *found = dlsym(handle, name);
    memcpy(function, &found, sizeof found);
    return found != NULL;
}

enum gt_status gt_serve_library_load(struct gt_serve_library *library, struct gt_error *err) {
    void *handle = dlopen(LIBRARY, RTLD_NOW | RTLD_LOCAL);
    bool has_all = handle != NULL;
#define FIND(name) has_all = has_all && find(handle, "MHD_" #name, &library->name);
    GT_SERVE_LIBRARY_CALLS(FIND)
#undef FIND
    if (has_all)
        return GT_OK;
    const char *reason = dlerror(); /* names the file */
    return gt_fail(
        err, "cannot load the server: %s; install libmicrohttpd, or use --format html, whose page needs no server",
        reason ? reason : LIBRARY);
}
#endif
