/* The ledger: gaps and own parts of ops make up the steady spans, and nothing can be claimed twice. By hand and against
   a look at every single nanosecond of random traces. */
#include "measure/findings/ledger.h"
#include "measure/results/results.h"
#include "measure_world.h"

enum { ROUNDS = 400, MOST_OPS = 40, DEVICES = 2, LONGEST_APART = 6 };

struct op {
    int64_t device, start, end;
    const char *name;
    enum gt_op_kind kind;
};

static const char *const compute = "gemm", *const comm = "ncclDevKernel_AllReduce", *const copy = "Memcpy HtoD";

static void put(struct world *world, const struct op *op, int64_t stream) {
    assert_true(gt_builder_op(&world->builder,
                              &(struct gt_ops_row){op->start, op->end, GT_NO_CORRELATION, world_text(world, op->name),
                                                   gt_builder_lane(&world->builder, GT_NO_TRACK, op->device, stream),
                                                   (uint8_t)op->kind, 0}));
}

struct books {
    struct world world;
    struct gt_ledger ledger;
};

/* Ops on streams of their own, so that they may overlap. */
static void open_books(struct books *books, const struct op *ops, size_t count, int64_t steady_ns) {
    struct gt_error err = {0};
    world_begin(&books->world, 1);
    for (size_t i = 0; i < count; i++)
        put(&books->world, &ops[i], (int64_t)i);
    world_seal(&books->world);
    world_run(&books->world, "accounting"); /* makes the view */
    const struct gt_idle *idle = gt_results_idle(books->world.view, &err);
    assert_non_null(idle);
    assert_true(gt_ledger_init(&books->ledger, books->world.view, idle, steady_ns, 3));
}

static void close_books(struct books *books) {
    gt_ledger_release(&books->ledger);
    world_end(&books->world);
}

static int64_t left_of(const struct books *books, int64_t start) {
    const struct gt_view *view = books->world.view;
    for (size_t i = 0; i < view->op_count; i++)
        if (view->start_ns[i] == start)
            return gt_ledger_op_left_ns(&books->ledger, i);
    fail();
    return 0;
}

/* ---- by hand ---- */

static const struct op overlapping[] = {
    {0, 0, 100, "gemm", GT_OP_KERNEL},
    {0, 50, 180, "ncclDevKernel_AllReduce", GT_OP_KERNEL}, /* 80 ns of it nothing computes */
    {0, 60, 120, "attention_kernel", GT_OP_KERNEL},        /* 20 ns come after the first */
    {0, 150, 200, "Memcpy HtoD", GT_OP_MEMCPY},            /* 20 ns come after communication */
    {0, 300, 400, "gemm", GT_OP_KERNEL},                   /* after a gap of 100 ns */
};

static void an_op_owns_what_nothing_of_higher_rank_covers(void **state) {
    (void)state;
    struct books books;
    open_books(&books, overlapping, 5, INT64_MIN);
    assert_int_equal(left_of(&books, 0), 100);
    assert_int_equal(left_of(&books, 50), 60);
    assert_int_equal(left_of(&books, 60), 20);
    assert_int_equal(left_of(&books, 150), 20);
    assert_int_equal(left_of(&books, 300), 100);
    assert_int_equal(books.ledger.idle->count, 1);
    assert_int_equal(gt_ledger_gap_left_ns(&books.ledger, 0), 100);
    assert_int_equal((int64_t)books.ledger.span_ns, 400);
    close_books(&books);
}

static void warm_up_is_nobodys(void **state) {
    (void)state;
    struct books books;
    open_books(&books, overlapping, 5, 350);
    assert_int_equal(left_of(&books, 0), 0);
    assert_int_equal(left_of(&books, 300), 50);
    assert_int_equal(gt_ledger_claim_gap(&books.ledger, 0, 10), 0);
    assert_int_equal((int64_t)books.ledger.span_ns, 50);
    close_books(&books);
}

static void no_more_can_be_claimed_than_is_left(void **state) {
    (void)state;
    struct books books;
    open_books(&books, overlapping, 5, INT64_MIN);
    struct gt_ledger *ledger = &books.ledger;
    assert_int_equal(gt_ledger_claim_gap(ledger, 0, 70), 70);
    assert_int_equal(gt_ledger_claim_gap(ledger, 0, 70), 30);
    assert_int_equal(gt_ledger_claim_gap(ledger, 0, 70), 0);
    assert_int_equal(gt_ledger_claim_gap(ledger, 0, -5), 0);
    assert_int_equal((int64_t)ledger->claimed_ns, 100);
    assert_int_equal(ledger->count, 2);
    assert_true(gt_ledger_share(ledger, (double)ledger->claimed_ns) == 0.25);
    close_books(&books);
}

static void what_is_given_back_is_free_and_what_is_kept_is_gone(void **state) {
    (void)state;
    struct books books;
    open_books(&books, overlapping, 5, INT64_MIN);
    struct gt_ledger *ledger = &books.ledger;
    gt_ledger_claim_gap(ledger, 0, 40);
    gt_ledger_claim_op(ledger, 0, 30);
    gt_ledger_give_back(ledger);
    assert_int_equal((int64_t)ledger->claimed_ns, 0);
    assert_int_equal(gt_ledger_claim_gap(ledger, 0, 1000), 100);
    assert_int_equal(gt_ledger_claim_op(ledger, 0, 1000), 100);
    gt_ledger_keep(ledger);
    assert_int_equal((int64_t)ledger->claimed_ns, 0);
    gt_ledger_give_back(ledger); /* only what is claimed since */
    assert_int_equal(gt_ledger_claim_gap(ledger, 0, 1), 0);
    assert_int_equal(gt_ledger_claim_op(ledger, 0, 1), 0);
    close_books(&books);
}

static void windows_are_the_largest_claims(void **state) {
    (void)state;
    struct op ops[9];
    for (size_t i = 0; i < 9; i++) /* gaps of 1 .. 8 ns */
        ops[i] = (struct op){0, (int64_t)(10 * i + i * (i + 1) / 2), (int64_t)(10 * i + i * (i + 1) / 2) + 10, compute,
                             GT_OP_KERNEL};
    struct books books;
    open_books(&books, ops, 9, INT64_MIN);
    struct gt_ledger *ledger = &books.ledger;
    for (size_t gap = 0; gap < ledger->idle->count; gap++)
        gt_ledger_claim_gap(ledger, gap, INT64_MAX);
    assert_int_equal(ledger->window_count, GT_FINDING_WINDOWS);
    for (size_t i = 0; i < GT_FINDING_WINDOWS; i++) {
        assert_int_equal(ledger->window_claims[i].ns, 8 - (int64_t)i);
        assert_int_equal(ledger->windows[i].end_ns - ledger->windows[i].start_ns, 8 - (int64_t)i);
    }
    gt_ledger_give_back(ledger);
    assert_int_equal(ledger->window_count, 0);
    close_books(&books);
}

/* ---- random ---- */

static size_t make_random(struct op *ops, uint64_t *random) {
    static const struct {
        const char *const *name;
        enum gt_op_kind kind;
    } kinds[] = {{&compute, GT_OP_KERNEL}, {&comm, GT_OP_KERNEL}, {&copy, GT_OP_MEMCPY}};
    bool are_apart = random_below(random, 2);
    size_t count = 1 + random_below(random, MOST_OPS);
    for (size_t i = 0; i < count; i++) {
        size_t kind = random_below(random, 3);
        bool is_apart = are_apart && *kinds[kind].name == compute;
        int64_t start = WORLD_START + (int64_t)(is_apart ? i * LONGEST_APART : random_below(random, WORLD_LENGTH));
        ops[i] = (struct op){(int64_t)random_below(random, DEVICES), start,
                             start + (int64_t)random_below(random, is_apart ? LONGEST_APART + 1 : 30),
                             *kinds[kind].name, kinds[kind].kind};
    }
    return count;
}

/* The ops of a device that cover a nanosecond, by class, and of the highest class the first. */
static size_t owner_at(const struct gt_view *view, const struct gt_view_device *device, int64_t at_ns) {
    size_t owner = SIZE_MAX;
    for (size_t i = device->first; i < device->first + device->count; i++) {
        bool covers = view->start_ns[i] <= at_ns && at_ns < view->end_ns[i];
        if (covers && (owner == SIZE_MAX || gt_view_op_class(view, i) < gt_view_op_class(view, owner)))
            owner = i;
    }
    return owner;
}

static void check_device(const struct books *books, const struct gt_view_device *device, int64_t steady_ns,
                         int64_t *owned_ns, int64_t *idle_ns) {
    for (int64_t at = device->span_start_ns; at < device->span_end_ns; at++) {
        size_t owner = owner_at(books->world.view, device, at);
        if (at < steady_ns)
            continue;
        *(owner == SIZE_MAX ? idle_ns : &owned_ns[owner]) += 1;
    }
}

static void gaps_and_own_parts_make_up_the_steady_time(void **state) {
    (void)state;
    uint64_t random = 17;
    for (size_t round = 0; round < ROUNDS; round++) {
        struct op ops[MOST_OPS];
        size_t count = make_random(ops, &random);
        int64_t steady_ns = random_below(&random, 2) ? INT64_MIN : WORLD_START + (int64_t)random_below(&random, 200);
        struct books books;
        open_books(&books, ops, count, steady_ns);
        const struct gt_view *view = books.world.view;
        int64_t owned_ns[MOST_OPS] = {0}, idle_ns = 0, gaps_ns = 0, sum_ns = 0;
        for (size_t d = 0; d < view->device_count; d++)
            check_device(&books, &view->devices[d], steady_ns, owned_ns, &idle_ns);
        for (size_t i = 0; i < view->op_count; i++) {
            assert_int_equal(gt_ledger_op_left_ns(&books.ledger, i), owned_ns[i]);
            sum_ns += owned_ns[i];
        }
        for (size_t gap = 0; gap < books.ledger.idle->count; gap++)
            gaps_ns += gt_ledger_gap_left_ns(&books.ledger, gap);
        assert_true(gaps_ns <= idle_ns); /* a gap that begins in the warm-up is nobody's */
        assert_true(steady_ns != INT64_MIN || gaps_ns == idle_ns);
        assert_int_equal((int64_t)books.ledger.span_ns, sum_ns + idle_ns);
        close_books(&books);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(an_op_owns_what_nothing_of_higher_rank_covers),
        cmocka_unit_test(warm_up_is_nobodys),
        cmocka_unit_test(no_more_can_be_claimed_than_is_left),
        cmocka_unit_test(what_is_given_back_is_free_and_what_is_kept_is_gone),
        cmocka_unit_test(windows_are_the_largest_claims),
        cmocka_unit_test(gaps_and_own_parts_make_up_the_steady_time),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
