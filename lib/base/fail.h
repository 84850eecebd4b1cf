/* How the library reports failure: a status to return and one line of text to show. */
#ifndef GT_BASE_FAIL_H
#define GT_BASE_FAIL_H

enum gt_status {
    GT_OK = 0,
    GT_ERR = 1,       /* the work could not be done */
    GT_ERR_USAGE = 2, /* the request made no sense: unknown step, bad number */
};

/* Zero-initialise before first use. message: lower case, no full stop, what failed first, advice after a semicolon. */
struct gt_error {
    enum gt_status code;
    char message[1024];
};

/* Each sets *err (which may be NULL) and returns the status, so that `return gt_fail(err, ...)` reads well. */
enum gt_status gt_fail(struct gt_error *err, const char *format, ...) __attribute__((format(printf, 2, 3)));
enum gt_status gt_fail_usage(struct gt_error *err, const char *format, ...) __attribute__((format(printf, 2, 3)));
enum gt_status gt_fail_memory(struct gt_error *err);

/* Puts "context: " before the message of a failure that is already set; keeps and returns its code. One per boundary.
 */
enum gt_status gt_fail_context(struct gt_error *err, const char *format, ...) __attribute__((format(printf, 2, 3)));

#endif
