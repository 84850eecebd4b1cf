/* SQLite can load extensions, which gputime never asks for. A static program would need the shared libraries of the
   very glibc it was built with for that, so in one nothing can be loaded: calls of dlopen end here. */
#ifdef GT_STATIC
#include <stddef.h>

void *__wrap_dlopen(const char *path, int mode); /* named by the linker's --wrap */

void *__wrap_dlopen(const char *path, int mode) {
    (void)path, (void)mode;
    return NULL;
}
#endif
