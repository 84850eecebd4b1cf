/* The server: who may ask, how long it lives, whom it cuts off, and that it answers many at once. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include <cmocka.h>

#include <arpa/inet.h>
#include <netinet/in.h>
#include <pthread.h>
#include <stdatomic.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/mem.h"
#include "serve/serve.h"
#include "serve/serve_clients.h"
#include "serve/serve_guard.h"
#ifdef GT_HAVE_MICROHTTPD
#include "serve/serve_library.h"
#endif
#include "serve/serve_life.h"
#include "serve/serve_listen.h"

#define SECOND INT64_C(1000000000)

/* ---- who may ask ---- */

static struct gt_serve_guard guard_of(const char *address, bool is_wildcard) {
    struct gt_serve_guard guard;
    assert_int_equal(gt_serve_guard_init(&guard, address, is_wildcard, 8000, NULL), GT_OK);
    return guard;
}

static void tokens_are_long_and_differ(void **state) {
    (void)state;
    struct gt_serve_guard one = guard_of("127.0.0.1", false), other = guard_of("127.0.0.1", false);
    assert_int_equal(strlen(one.token), GT_SERVE_GUARD_TOKEN);
    assert_int_equal(strspn(one.token, "0123456789abcdef"), GT_SERVE_GUARD_TOKEN);
    assert_string_not_equal(one.token, other.token);
}

static void only_the_token_opens(void **state) {
    (void)state;
    struct gt_serve_guard guard = guard_of("127.0.0.1", false);
    char target[100];
    snprintf(target, sizeof target, "/%s/lanes?input=0", guard.token);
    assert_string_equal(gt_serve_guard_path(&guard, target), "lanes?input=0");
    for (size_t i = 0; i <= GT_SERVE_GUARD_TOKEN + 1; i++) {
        char wrong[100];
        snprintf(wrong, sizeof wrong, "%s", target);
        wrong[i] = (char)(wrong[i] ^ 1);
        assert_null(gt_serve_guard_path(&guard, wrong));
        snprintf(wrong, sizeof wrong, "%.*s", (int)i, target);
        assert_null(gt_serve_guard_path(&guard, wrong));
    }
    snprintf(target, sizeof target, "/%s/", guard.token);
    assert_string_equal(gt_serve_guard_path(&guard, target), "");
}

static void hosts(void **state) {
    (void)state;
    struct gt_serve_guard own = guard_of("127.0.0.1", false), asked = guard_of("10.0.0.7", false);
    struct gt_serve_guard six = guard_of("fe80::1", false), all = guard_of("0.0.0.0", true);
    assert_true(gt_serve_guard_knows(&own, "127.0.0.1:8000") && gt_serve_guard_knows(&own, "LocalHost:8000"));
    assert_true(gt_serve_guard_knows(&own, "[::1]:8000"));
    assert_false(gt_serve_guard_knows(&own, "127.0.0.1") || gt_serve_guard_knows(&own, "127.0.0.1:80001"));
    assert_false(gt_serve_guard_knows(&own, "10.0.0.7:8000") || gt_serve_guard_knows(&own, "a.example:8000"));
    assert_true(gt_serve_guard_knows(&asked, "10.0.0.7:8000"));
    assert_false(gt_serve_guard_knows(&asked, "10.0.0.8:8000"));
    assert_true(gt_serve_guard_knows(&six, "[fe80::1]:8000"));
    assert_true(gt_serve_guard_knows(&all, "10.0.0.8:8000") && gt_serve_guard_knows(&all, "[fe80::2]:8000"));
    assert_false(gt_serve_guard_knows(&all, "10.0.0.8:8001") || gt_serve_guard_knows(&all, "10.0.0.8"));
    assert_false(gt_serve_guard_knows(&all, "a.example:8000") || gt_serve_guard_knows(&all, "10.0.0:8000"));
    assert_false(gt_serve_guard_knows(&all, "") || gt_serve_guard_knows(&all, ":8000"));
    assert_false(gt_serve_guard_knows(&all, "[]:8000") || gt_serve_guard_knows(&all, "[fe80::2:8000"));
}

static void a_long_host_is_nobody(void **state) {
    (void)state;
    struct gt_serve_guard all = guard_of("0.0.0.0", true);
    char host[2000];
    memset(host, '1', sizeof host);
    host[sizeof host - 1] = '\0';
    assert_false(gt_serve_guard_knows(&all, host));
    host[0] = '[';
    assert_false(gt_serve_guard_knows(&all, host));
}

/* Browsers leave out the port where it is 80, and only there. */
static void the_usual_port(void **state) {
    (void)state;
    struct gt_serve_guard guard;
    assert_int_equal(gt_serve_guard_init(&guard, "127.0.0.1", false, 80, NULL), GT_OK);
    assert_true(gt_serve_guard_knows(&guard, "localhost") && gt_serve_guard_knows(&guard, "localhost:80"));
    assert_false(gt_serve_guard_knows(&guard, "a.example") || gt_serve_guard_knows(&guard, "localhost:81"));
}

static void the_name_of_the_machine(void **state) {
    (void)state;
    struct gt_serve_guard all = guard_of("0.0.0.0", true), one = guard_of("[fe80::1]", false);
    char host[GT_SERVE_GUARD_NAME + 8];
    snprintf(host, sizeof host, "%s:8000", all.machine);
    assert_true(gt_serve_guard_knows(&all, host));
    assert_string_equal(one.address, "[fe80::1]");
    assert_string_equal(one.machine, "");
}

static void a_long_address_is_refused(void **state) {
    (void)state;
    struct gt_serve_guard guard;
    struct gt_error err = {0};
    char address[sizeof guard.address + 1];
    memset(address, '1', sizeof address);
    address[sizeof address - 1] = '\0';
    assert_int_equal(gt_serve_guard_init(&guard, address, false, 8000, &err), GT_ERR_USAGE);
    assert_string_equal(err.message, "the address is too long");
}

/* ---- sockets ---- */

static void listens(void **state) {
    (void)state;
    struct gt_serve_listen first, second;
    struct gt_error err = {0};
    assert_int_equal(gt_serve_listen_open("0.0.0.0", 0, &first, &err), GT_OK);
    assert_true(first.is_wildcard && first.port != 0);
    assert_int_equal(gt_serve_listen_open("0.0.0.0", first.port, &second, &err), GT_ERR);
    assert_non_null(strstr(err.message, "is in use; choose another with --port"));
    close(first.socket);
    assert_int_equal(gt_serve_listen_open("127.0.0.1", 0, &first, &err), GT_OK);
    assert_false(first.is_wildcard);
    close(first.socket);
    assert_int_equal(gt_serve_listen_open("192.0.2.1", 0, &first, &err), GT_ERR); /* nobody's address */
    assert_non_null(strstr(err.message, "cannot listen on 192.0.2.1, port 0: "));
    assert_int_equal(gt_serve_listen_open("no address", 0, &first, &err), GT_ERR_USAGE);
}

/* Some machines have no IPv6, which is a reason that is given. */
static void listens_to_six(void **state) {
    (void)state;
    struct gt_serve_listen wide, narrow;
    struct gt_error err = {0};
    if (gt_serve_listen_open("::", 0, &wide, &err) != GT_OK) {
        assert_non_null(strstr(err.message, "cannot listen on ::, port 0: "));
        return;
    }
    assert_true(wide.is_wildcard && wide.port != 0);
    close(wide.socket);
    if (gt_serve_listen_open("::1", 0, &narrow, &err) == GT_OK) {
        assert_true(!narrow.is_wildcard && narrow.port != 0);
        close(narrow.socket);
    }
}

/* With so many descriptors more than there are now; -1: as many as before. */
static void allow_descriptors(int more) {
    static rlim_t before;
    struct rlimit limit;
    int next = dup(0);
    close(next);
    assert_int_equal(getrlimit(RLIMIT_NOFILE, &limit), 0);
    before = before ? before : limit.rlim_cur;
    limit.rlim_cur = more < 0 ? before : (rlim_t)(next + more);
    assert_int_equal(setrlimit(RLIMIT_NOFILE, &limit), 0);
}

/* Without it the first thing that a server has no descriptor for is its library. */
static void load_library(void) {
#ifdef GT_HAVE_MICROHTTPD
    struct gt_serve_library library;
    struct gt_error err = {0};
    assert_int_equal(gt_serve_library_load(&library, &err), GT_OK);
    assert_non_null(library.get_version());
#endif
}

static void no_descriptor_is_left(void **state) {
    (void)state;
    struct gt_error err = {0};
    const struct gt_serve_how how = {.idle_seconds = -1, .stop_fd = -1};
    if (!gt_serve_is_there())
        skip();
    load_library();
    allow_descriptors(0);
    enum gt_status no_socket = gt_serve_run(&how, &err);
    allow_descriptors(-1);
    allow_descriptors(1);
    struct gt_error other = {0};
    enum gt_status no_daemon = gt_serve_run(&how, &other);
    allow_descriptors(-1);
    assert_int_equal(no_socket, GT_ERR);
    assert_non_null(strstr(err.message, "cannot listen on 127.0.0.1, port 0: "));
    assert_int_equal(no_daemon, GT_ERR);
    assert_string_equal(other.message, "cannot start the server");
}

static bool trusts(const char *origin, const char *site, const char *mode, const char *destination, bool is_page) {
    const struct gt_serve_guard_asker asker = {"127.0.0.1:8000", origin, site, mode, destination, is_page};
    return gt_serve_guard_trusts(&asker);
}

static void pages_that_ask(void **state) {
    (void)state;
    assert_true(trusts(NULL, NULL, NULL, NULL, false));
    assert_true(trusts("http://127.0.0.1:8000", "same-origin", "cors", "empty", false));
    assert_false(trusts("http://localhost:8000", NULL, NULL, NULL, false));
    assert_false(trusts("null", "same-origin", NULL, NULL, false));
    assert_false(trusts(NULL, "cross-site", "no-cors", "script", true));
    assert_true(trusts(NULL, "cross-site", "navigate", "document", true));
    assert_false(trusts(NULL, "cross-site", "navigate", "document", false));
    assert_false(trusts(NULL, "cross-site", "navigate", "iframe", true));
    assert_false(trusts(NULL, "cross-site", "navigate", NULL, true));
    assert_false(trusts(NULL, "cross-site", NULL, "document", true));
    assert_true(trusts(NULL, "none", "navigate", "document", true));
    assert_false(gt_serve_guard_trusts(&(struct gt_serve_guard_asker){.origin = "http://127.0.0.1:8000"}));
}

/* ---- life ---- */

static void life_without_a_wish(void **state) {
    (void)state;
    struct gt_serve_life life;
    gt_serve_life_init(&life, 0, 5 * SECOND);
    assert_true(gt_serve_life_end_ns(&life) == GT_SERVE_LIFE_FOREVER); /* nobody came yet */
    gt_serve_life_hear(&life, false, 10 * SECOND);
    assert_true(gt_serve_life_end_ns(&life) == 910 * SECOND);
    gt_serve_life_hear(&life, true, 20 * SECOND);
    assert_true(gt_serve_life_end_ns(&life) == 80 * SECOND);
    gt_serve_life_hear(&life, false, 30 * SECOND); /* another page is still there */
    assert_true(gt_serve_life_end_ns(&life) == 930 * SECOND);
}

static void life_as_asked(void **state) {
    (void)state;
    struct gt_serve_life life;
    gt_serve_life_init(&life, 7, 5 * SECOND);
    assert_true(gt_serve_life_end_ns(&life) == 12 * SECOND);
    gt_serve_life_hear(&life, false, 10 * SECOND);
    assert_true(gt_serve_life_end_ns(&life) == 17 * SECOND);
    gt_serve_life_init(&life, -1, 0);
    gt_serve_life_hear(&life, true, SECOND);
    assert_true(gt_serve_life_end_ns(&life) == GT_SERVE_LIFE_FOREVER);
    gt_serve_life_init(&life, INT64_MAX, SECOND);
    assert_true(gt_serve_life_end_ns(&life) == GT_SERVE_LIFE_FOREVER);
    gt_serve_life_init(&life, INT64_MAX / SECOND, SECOND);
    assert_true(gt_serve_life_end_ns(&life) == GT_SERVE_LIFE_FOREVER);
}

/* ---- slow clients ---- */

static bool is_cut(int socket) {
    char byte;
    return recv(socket, &byte, 1, MSG_DONTWAIT) == 0;
}

/* Whoever asks for longest makes room; who waits for an answer or reads one does not. */
static void many_clients_keep_nobody_out(void **state) {
    (void)state;
    enum { MANY = GT_SERVE_CLIENTS_ASKERS + 4, LATE = 2 };
    struct gt_serve_clients clients;
    static int ends[MANY][2];
    static struct gt_serve_client *client[MANY];
    gt_serve_clients_init(&clients);
    for (int i = 0; i < MANY; i++) {
        assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM, 0, ends[i]), 0);
        client[i] = gt_serve_clients_add(&clients, ends[i][0], i);
        if (i < LATE) /* the first two are being answered */
            gt_serve_clients_enter(&clients, client[i], i ? GT_SERVE_CLIENTS_READING : GT_SERVE_CLIENTS_WAITING, i);
    }
    for (int i = 0; i < MANY; i++)
        assert_int_equal(is_cut(ends[i][1]), i == LATE || i == LATE + 1);
    gt_serve_clients_enter(&clients, client[LATE], GT_SERVE_CLIENTS_READING, 0);
    assert_int_equal(client[LATE]->phase, GT_SERVE_CLIENTS_CUT);
    for (int i = 0; i < MANY; i++) {
        gt_serve_clients_remove(&clients, client[i]);
        close(ends[i][0]);
        close(ends[i][1]);
    }
    gt_serve_clients_release(&clients);
}

static void slow_clients_are_cut_off(void **state) {
    (void)state;
    struct gt_serve_clients clients;
    int ends[3][2];
    struct gt_serve_client *client[3];
    gt_serve_clients_init(&clients);
    for (int i = 0; i < 3; i++) {
        assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM, 0, ends[i]), 0);
        client[i] = gt_serve_clients_add(&clients, ends[i][0], 0);
    }
    gt_serve_clients_enter(&clients, client[1], GT_SERVE_CLIENTS_WAITING, SECOND);
    gt_serve_clients_enter(&clients, client[2], GT_SERVE_CLIENTS_READING, SECOND);
    gt_serve_clients_cut(&clients, 19 * SECOND);
    assert_false(is_cut(ends[0][1]) || is_cut(ends[1][1]) || is_cut(ends[2][1]));
    gt_serve_clients_cut(&clients, 20 * SECOND);
    assert_true(is_cut(ends[0][1]) && !is_cut(ends[1][1]) && !is_cut(ends[2][1]));
    gt_serve_clients_cut(&clients, 1000 * SECOND);
    assert_true(!is_cut(ends[1][1]) && is_cut(ends[2][1]));
    gt_serve_clients_remove(&clients, client[1]);
    gt_serve_clients_remove(&clients, client[0]);
    gt_serve_clients_remove(&clients, client[2]);
    gt_serve_clients_remove(&clients, NULL);
    assert_null(clients.first);
    gt_serve_clients_release(&clients);
    for (int i = 0; i < 6; i++)
        close(ends[i / 2][i % 2]);
}

/* ---- the server ---- */

enum { ASKERS = 8, QUESTIONS = 10 };

struct world {
    int stop[2];
    char url[300];
    int port;
    pthread_t askers[ASKERS];
    atomic_int good;
    int wrong;
};

static void answer(void *context, const char *path, int (*is_gone)(void *asker), void *asker,
                   struct gt_serve_answer *out) {
    (void)context;
    assert_false(is_gone(asker));
    if (strcmp(path, "no-memory") == 0)
        return;
    *out = (struct gt_serve_answer){.status = 200, .content_type = "text/plain", .size = strlen(path)};
    out->bytes = gt_mem_alloc(out->size + 1);
    if (out->bytes)
        memcpy(out->bytes, path, out->size + 1);
}

/* One request on a connection of its own, with more headers; whether the answer has the text, or ends in it. */
static bool ask_with(const struct world *world, const char *target, const char *headers, const char *expected,
                     bool is_end) {
    char text[600];
    struct sockaddr_in place = {.sin_family = AF_INET, .sin_port = htons((uint16_t)world->port)};
    int fd = socket(AF_INET, SOCK_STREAM, 0);
    size_t got = 0;
    place.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    bool is_good = connect(fd, (struct sockaddr *)&place, sizeof place) == 0;
    int bytes = snprintf(text, sizeof text, "GET %s HTTP/1.1\r\nHost: localhost:%d\r\n%sConnection: close\r\n\r\n",
                         target, world->port, headers);
    is_good = is_good && write(fd, text, (size_t)bytes) == bytes;
    static const size_t room = 4096;
    char *received = calloc(1, room);
    for (ssize_t more = 1; is_good && received && more > 0; got += more > 0 ? (size_t)more : 0)
        more = read(fd, received + got, room - 1 - got);
    close(fd);
    is_good = is_good && received && got > strlen(expected) &&
              (is_end ? strcmp(received + got - strlen(expected), expected) == 0 : strstr(received, expected) != NULL);
    free(received);
    return is_good;
}

static bool ask(const struct world *world, const char *target, const char *expected) {
    return ask_with(world, target, "", expected, true);
}

/* What is refused, and how; how many of them are not. */
static int ask_wrongly(const struct world *world) {
    char token[300], broken[310], good[310];
    snprintf(token, sizeof token, "%s", strchr(world->url + strlen("http://"), '/'));
    snprintf(broken, sizeof broken, "%sno-memory", token);
    snprintf(good, sizeof good, "%squestion", token);
    return !ask_with(world, broken, "", "HTTP/1.1 500 ", false) +
           !ask_with(world, good, "Host: localhost\r\n", "HTTP/1.1 400 ", false) +
           !ask_with(world, good, "Origin: http://a.example\r\n", "HTTP/1.1 403 ", false) +
           !ask_with(world, good, "Sec-Fetch-Site: same-origin\r\nSec-Fetch-Site: none\r\n", "HTTP/1.1 400 ", false) +
           !ask_with(world, good, "Content-Length: 2\r\n", "HTTP/1.1 413 ", false) +
           !ask_with(world, good, "Content-Length: 0\r\n", "question", true);
}

static void *ask_often(void *context) {
    struct world *world = context;
    const char *place = strchr(world->url + strlen("http://"), '/');
    for (int i = 0; i < QUESTIONS; i++) {
        char target[400], text[40];
        snprintf(text, sizeof text, "question-%d", i);
        snprintf(target, sizeof target, "%s%s", place, text);
        world->good += ask(world, target, text);
    }
    return NULL;
}

static void *ask_and_stop(void *context) {
    struct world *world = context;
    for (int i = 0; i < ASKERS; i++)
        pthread_create(&world->askers[i], NULL, ask_often, world);
    for (int i = 0; i < ASKERS; i++)
        pthread_join(world->askers[i], NULL);
    world->good += !ask(world, "/wrong/", "question");
    world->wrong = ask_wrongly(world);
    if (write(world->stop[1], "", 1) != 1)
        abort();
    return NULL;
}

static pthread_t asking;

static void begin_asking(void *context, const char *url, int port) {
    struct world *world = context;
    snprintf(world->url, sizeof world->url, "%s", url);
    world->port = port;
    if (pthread_create(&asking, NULL, ask_and_stop, world) != 0)
        abort();
}

static void many_ask_at_once(void **state) {
    (void)state;
    struct world world = {.port = 0};
    struct gt_error err = {0};
    if (!gt_serve_is_there())
        skip();
    assert_int_equal(pipe(world.stop), 0);
    const struct gt_serve_how how = {
        .idle_seconds = -1, .stop_fd = world.stop[0], .context = &world, .answer = answer, .ready = begin_asking};
    assert_int_equal(gt_serve_run(&how, &err), GT_OK);
    pthread_join(asking, NULL);
    assert_int_equal(world.good, ASKERS * QUESTIONS + 1);
    assert_int_equal(world.wrong, 0);
    close(world.stop[0]);
    close(world.stop[1]);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(tokens_are_long_and_differ),
        cmocka_unit_test(only_the_token_opens),
        cmocka_unit_test(hosts),
        cmocka_unit_test(a_long_host_is_nobody),
        cmocka_unit_test(the_usual_port),
        cmocka_unit_test(the_name_of_the_machine),
        cmocka_unit_test(a_long_address_is_refused),
        cmocka_unit_test(listens),
        cmocka_unit_test(listens_to_six),
        cmocka_unit_test(no_descriptor_is_left),
        cmocka_unit_test(pages_that_ask),
        cmocka_unit_test(life_without_a_wish),
        cmocka_unit_test(life_as_asked),
        cmocka_unit_test(many_clients_keep_nobody_out),
        cmocka_unit_test(slow_clients_are_cut_off),
        cmocka_unit_test(many_ask_at_once),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
