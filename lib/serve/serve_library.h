/* What the server calls of libmicrohttpd, loaded when it starts: the libraries that this one needs in turn take longer
   to load than small traces to read, and every other command does without them. */
#ifndef GT_SERVE_LIBRARY_H
#define GT_SERVE_LIBRARY_H

#include <microhttpd.h>

#include "base/fail.h"

#define GT_SERVE_LIBRARY_CALLS(CALL)                                                                                   \
    CALL(add_response_header)                                                                                          \
    CALL(create_response_from_buffer)                                                                                  \
    CALL(create_response_from_buffer_with_free_callback)                                                               \
    CALL(destroy_response)                                                                                             \
    CALL(get_connection_info)                                                                                          \
    CALL(get_connection_values)                                                                                        \
    CALL(get_version)                                                                                                  \
    CALL(queue_response)                                                                                               \
    CALL(start_daemon)                                                                                                 \
    CALL(stop_daemon)

struct gt_serve_library {
#define POINTER(name) __typeof__(MHD_##name) *name;
    GT_SERVE_LIBRARY_CALLS(POINTER)
#undef POINTER
};

/* It stays loaded: the library has threads and memory of its own that outlive a server. */
enum gt_status gt_serve_library_load(struct gt_serve_library *library, struct gt_error *err);

#endif
