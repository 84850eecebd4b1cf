/* Linked into the unit tests that are not among THREADED of the Makefile: ThreadSanitizer does not run those, so they
   must not start a thread. */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

int __wrap_pthread_create(pthread_t *thread, const pthread_attr_t *attributes, void *(*run)(void *), void *context);

int __wrap_pthread_create(pthread_t *thread, const pthread_attr_t *attributes, void *(*run)(void *), void *context) {
    (void)thread, (void)attributes, (void)run, (void)context;
    fputs("this test starts a thread: add it to THREADED in the Makefile, so that ThreadSanitizer runs it\n", stderr);
    abort();
}
