/* Joining of lists: every shift gives an offset of the clocks, and with it up to two candidates: the overlap as it is,
   and a walk that can leave ops out on both sides. Linear for each shift. */
#include "ranks/rank_join.h"

#include <stdlib.h>

#include "base/mem.h"

struct joining {
    const struct gt_rank_join_list *a, *b;
    int64_t *scratch;      /* as many as the longer list has */
    uint32_t *partner;     /* where to put pairs; NULL: they are only counted */
    int64_t least_quality; /* of all candidates so far */
    bool ignores_steps;    /* no candidate agrees with the numbers of steps */
};

enum way { WALK, OVERLAP };

struct candidate {
    int64_t shift, offset_ns;
    int64_t quality; /* what three quarters of the differences stay below */
    size_t pairs, equal_steps, unequal_steps, unequal_labels;
    enum way way;
};

/* ---- order statistics ---- */

static void swap(int64_t *x, int64_t *y) {
    int64_t kept = *x;
    *x = *y;
    *y = kept;
}

static int64_t middle_of(int64_t x, int64_t y, int64_t z) {
    int64_t low = x < y ? x : y, high = x < y ? y : x;
    return z < low ? low : z > high ? high : z;
}

static int by_value(const void *a, const void *b) {
    int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;
    return (x > y) - (x < y);
}

/* Orders made to mislead the choice of the pivot end in a sort. */
int64_t gt_rank_join_select(int64_t *values, size_t count, size_t place) {
    size_t first = 0, last = count - 1; /* the wanted one is between these */
    for (size_t done = 0; first < last; done += last - first + 1) {
        enum { PASSES_MAX = 16 }; /* over all values together; three are usual */
        if (done / PASSES_MAX > count) {
            qsort(values + first, last - first + 1, sizeof *values, by_value);
            break;
        }
        int64_t pivot = middle_of(values[first], values[first + (last - first) / 2], values[last]);
        size_t low = first, high = last;
        while (low <= high) {
            while (values[low] < pivot)
                low++;
            while (values[high] > pivot)
                high--;
            if (low > high)
                break;
            swap(&values[low++], &values[high]);
            if (high == 0)
                break;
            high--;
        }
        if (place <= high && high < low)
            last = high;
        else if (place >= low)
            first = low;
        else
            return values[place]; /* between the parts all are the pivot */
    }
    return values[place];
}

/* ---- what is common to both ways ---- */

static inline uint64_t miss_of(const struct joining *it, size_t i, size_t j, int64_t offset_ns) {
    int64_t off = (int64_t)((uint64_t)it->a->end_ns[i] - (uint64_t)it->b->end_ns[j] - (uint64_t)offset_ns);
    return off < 0 ? -(uint64_t)off : (uint64_t)off;
}

static inline bool is_same(const struct joining *it, size_t i, size_t j) {
    return it->a->label[i] == it->b->label[j];
}

static inline bool is_nearer(const struct joining *it, size_t i, size_t j, int64_t offset_ns, uint64_t miss) {
    return i < it->a->count && j < it->b->count && is_same(it, i, j) && miss_of(it, i, j, offset_ns) < miss;
}

static inline bool is_other_step(const struct joining *it, size_t i, size_t j) {
    int64_t x = it->a->step[i], y = it->b->step[j];
    return x != y && x != GT_RANK_JOIN_NO_STEP && y != GT_RANK_JOIN_NO_STEP;
}

static int64_t clipped(uint64_t miss) {
    return miss > INT64_MAX ? INT64_MAX : (int64_t)miss;
}

/* How far two ops are from being one. Steps are as regular as clocks, so a list that is one step off may fit better
   than the right one by chance: ops of different steps are as far apart as can be. */
static inline int64_t distance_of(const struct joining *it, size_t i, size_t j, int64_t offset_ns) {
    return is_other_step(it, i, j) ? INT64_MAX : clipped(miss_of(it, i, j, offset_ns));
}

static void add_pair(struct joining *it, struct candidate *found, size_t i, size_t j) {
    found->pairs++;
    found->unequal_steps += is_other_step(it, i, j);
    found->equal_steps += it->a->step[i] == it->b->step[j] && it->a->step[i] != GT_RANK_JOIN_NO_STEP;
    if (it->partner)
        it->partner[j] = (uint32_t)i;
}

static size_t shorter_of(const struct joining *it) {
    return it->a->count < it->b->count ? it->a->count : it->b->count;
}

/* Of `count` differences and so many ops without a partner. */
static int64_t quality_of(struct joining *it, size_t count, size_t without) {
    size_t place = 3 * (count + without - 1) / 4;
    return place >= count ? INT64_MAX : gt_rank_join_select(it->scratch, count, place);
}

static int64_t limit_of(const struct joining *it) {
    return it->least_quality > INT64_MAX / 3 ? INT64_MAX : 3 * it->least_quality;
}

/* ---- the overlap ---- */

struct overlap {
    size_t first, end; /* of a */
    int64_t shift;
};

static struct overlap overlap_of(const struct joining *it, int64_t shift) {
    int64_t first = shift < 0 ? -shift : 0, end = (int64_t)it->b->count - shift;
    end = end < (int64_t)it->a->count ? end : (int64_t)it->a->count;
    return (struct overlap){(size_t)first, end > first ? (size_t)end : (size_t)first, shift};
}

static size_t place_in_b(const struct overlap *overlap, size_t i) {
    return (size_t)((int64_t)i + overlap->shift);
}

static int64_t median_offset(struct joining *it, const struct overlap *overlap) {
    size_t count = 0;
    for (size_t i = overlap->first; i < overlap->end; i++)
        it->scratch[count++] = (int64_t)((uint64_t)it->a->end_ns[i] - (uint64_t)it->b->end_ns[place_in_b(overlap, i)]);
    return gt_rank_join_select(it->scratch, count, (count - 1) / 2);
}

static bool fits(const struct joining *it, size_t i, size_t j, int64_t offset_ns) {
    uint64_t miss = miss_of(it, i, j, offset_ns);
    return !is_nearer(it, i + 1, j, offset_ns, miss) && !is_nearer(it, i, j + 1, offset_ns, miss) &&
           !(i > 0 && is_nearer(it, i - 1, j, offset_ns, miss)) && !(j > 0 && is_nearer(it, i, j - 1, offset_ns, miss));
}

/* Whether enough differences are small that it may be chosen. Most others are found out soon. */
static bool is_near(const struct joining *it, const struct overlap *overlap, int64_t offset_ns) {
    size_t length = overlap->end - overlap->first, allowed = length - 3 * (length - 1) / 4 - 1, excess = 0;
    int64_t limit = it->partner ? INT64_MAX : limit_of(it);
    for (size_t i = overlap->first; i < overlap->end && excess <= allowed; i++) {
        size_t j = place_in_b(overlap, i);
        excess += !is_same(it, i, j) ? allowed + 1 : distance_of(it, i, j, offset_ns) > limit;
    }
    return excess <= allowed;
}

/* How many pairs fit; most that do not are found at once where only that is asked. */
static size_t count_fitting(const struct joining *it, const struct overlap *overlap, int64_t offset_ns, bool to_first) {
    size_t fitting = 0;
    for (size_t i = overlap->first; i < overlap->end; i++) {
        size_t j = place_in_b(overlap, i);
        bool is_fit = is_same(it, i, j) && fits(it, i, j, offset_ns);
        if (!is_fit && to_first)
            break;
        fitting += is_fit;
    }
    return fitting;
}

/* Fills the candidate; *needs_walk: not all pairs are as they should be. false: it is none, or cannot be chosen. */
static bool try_overlap(struct joining *it, const struct overlap *overlap, struct candidate *found, bool *needs_walk) {
    size_t length = overlap->end - overlap->first;
    bool can_be_chosen = is_near(it, overlap, found->offset_ns);
    size_t fitting = count_fitting(it, overlap, found->offset_ns, !can_be_chosen);
    *needs_walk = fitting < length;
    if (!can_be_chosen || 10 * fitting < 9 * length)
        return false;
    for (size_t i = overlap->first; i < overlap->end; i++) {
        size_t j = place_in_b(overlap, i);
        it->scratch[found->pairs] = distance_of(it, i, j, found->offset_ns);
        add_pair(it, found, i, j);
    }
    found->quality = quality_of(it, found->pairs, 0);
    return true;
}

/* ---- the walk ---- */

/* Ops without a partner, of the list that has more; both lists as long as from the first pair to the last. */
static size_t holes_in(size_t a_count, size_t b_count, size_t pairs) {
    return (a_count > b_count ? a_count : b_count) - pairs;
}

/* Ends early where more than a quarter of all differences are too large already. */
static bool walk(struct joining *it, struct candidate *found) {
    const struct gt_rank_join_list *a = it->a, *b = it->b;
    size_t i = 0, j = 0, first_i = 0, first_j = 0, excess = 0, without = 0;
    size_t longer = a->count > b->count ? a->count : b->count, allowed = longer - 3 * (longer - 1) / 4 - 1;
    int64_t offset_ns = found->offset_ns, limit = it->partner ? INT64_MAX : limit_of(it);
    bool can_end = limit < INT64_MAX; /* else all candidates so far are as bad */
    while (i < a->count && j < b->count && (!can_end || excess + without <= allowed)) {
        uint64_t miss = miss_of(it, i, j, offset_ns);
        if (is_same(it, i, j) && !is_nearer(it, i + 1, j, offset_ns, miss) &&
            !is_nearer(it, i, j + 1, offset_ns, miss)) {
            first_i = found->pairs ? first_i : i;
            first_j = found->pairs ? first_j : j;
            it->scratch[found->pairs] = distance_of(it, i, j, offset_ns);
            excess += it->scratch[found->pairs] > limit;
            add_pair(it, found, i, j);
            i++;
            j++;
            without = holes_in(i - first_i, j - first_j, found->pairs);
        } else if ((int64_t)((uint64_t)a->end_ns[i] - (uint64_t)offset_ns - (uint64_t)b->end_ns[j]) <= 0) {
            i++;
        } else {
            j++;
        }
    }
    if ((can_end && excess + without > allowed) || found->pairs == 0 || 2 * found->pairs < shorter_of(it))
        return false;
    found->quality = quality_of(it, found->pairs, without);
    return true;
}

/* ---- messages ---- */

static bool try_messages(struct joining *it, const struct overlap *overlap, struct candidate *found) {
    for (size_t i = overlap->first; i < overlap->end; i++) {
        size_t j = place_in_b(overlap, i);
        if (is_same(it, i, j))
            add_pair(it, found, i, j);
        else
            found->unequal_labels++;
    }
    return found->pairs && 2 * found->pairs >= shorter_of(it);
}

/* ---- the choice ---- */

static int64_t size_of(int64_t shift) {
    return shift < 0 ? -shift : shift;
}

/* Both are good enough. */
static bool is_better(const struct candidate *x, const struct candidate *y) {
    if (x->unequal_labels != y->unequal_labels)
        return x->unequal_labels < y->unequal_labels;
    if (x->unequal_steps != y->unequal_steps)
        return x->unequal_steps < y->unequal_steps;
    if (x->pairs != y->pairs)
        return x->pairs > y->pairs;
    if (x->way != y->way)
        return x->way == WALK;
    if (size_of(x->shift) != size_of(y->shift))
        return size_of(x->shift) < size_of(y->shift);
    return x->shift < y->shift;
}

/* Of two or three pairs some always fit, as the offset is made of them: numbers of steps say more. */
static void keep(struct joining *it, struct candidate *list, size_t *count, const struct candidate *found) {
    if (found->unequal_steps > found->equal_steps && !it->ignores_steps)
        return;
    list[(*count)++] = *found;
    it->least_quality = found->quality < it->least_quality ? found->quality : it->least_quality;
}

static void try_shift(struct joining *it, int64_t shift, bool are_messages, struct candidate *list, size_t *count) {
    struct overlap overlap = overlap_of(it, shift);
    size_t length = overlap.end - overlap.first;
    struct candidate found = {.shift = shift, .way = OVERLAP};
    bool needs_walk = false;
    if (length == 0 || 2 * length < shorter_of(it))
        return;
    if (are_messages) {
        if (try_messages(it, &overlap, &found))
            keep(it, list, count, &found);
        return;
    }
    found.offset_ns = median_offset(it, &overlap);
    struct candidate walked = {.shift = shift, .offset_ns = found.offset_ns, .way = WALK};
    if (try_overlap(it, &overlap, &found, &needs_walk))
        keep(it, list, count, &found);
    if (needs_walk && walk(it, &walked))
        keep(it, list, count, &walked);
}

static void try_shifts(struct joining *it, bool are_messages, struct candidate *list, size_t *count) {
    size_t longer = it->a->count > it->b->count ? it->a->count : it->b->count;
    for (int64_t size = 0; size <= GT_RANK_JOIN_SHIFTS && size < (int64_t)longer; size++) {
        try_shift(it, size, are_messages, list, count);
        if (size)
            try_shift(it, -size, are_messages, list, count);
    }
}

static void put_pairs(struct joining *it, const struct candidate *best, bool are_messages, uint32_t *partner) {
    struct overlap overlap = overlap_of(it, best->shift);
    struct candidate again = {.shift = best->shift, .offset_ns = best->offset_ns, .way = best->way};
    bool needs_walk;
    it->partner = partner;
    if (are_messages)
        try_messages(it, &overlap, &again);
    else if (best->way == WALK)
        walk(it, &again);
    else
        try_overlap(it, &overlap, &again, &needs_walk);
}

static bool has_steps(const struct gt_rank_join_list *list) {
    for (size_t i = 0; i < list->count; i++)
        if (list->step[i] == GT_RANK_JOIN_NO_STEP)
            return false;
    return true;
}

/* ---- by steps ---- */

static size_t first_of_step(const struct gt_rank_join_list *list, int64_t step) {
    size_t i = 0;
    while (i < list->count && list->step[i] != step)
        i++;
    return i;
}

static bool is_new_step(const struct gt_rank_join_list *list, size_t i) {
    return list->step[i - 1] != list->step[i] && list->step[i - 1] != GT_RANK_JOIN_NO_STEP;
}

/* What is left over on either side is of other steps. */
static bool ends_with_steps(const struct joining *it, const struct overlap *overlap) {
    size_t first_b = place_in_b(overlap, overlap->first), end_b = place_in_b(overlap, overlap->end);
    return (overlap->first == 0 || is_new_step(it->a, overlap->first)) &&
           (first_b == 0 || is_new_step(it->b, first_b)) &&
           (overlap->end == it->a->count || is_new_step(it->a, overlap->end)) &&
           (end_b == it->b->count || is_new_step(it->b, end_b));
}

/* Labels and steps are equal all along, and steps say enough. */
static bool are_equal_steps(const struct joining *it, const struct overlap *overlap) {
    size_t with_step = 0;
    for (size_t i = overlap->first; i < overlap->end; i++) {
        size_t j = place_in_b(overlap, i);
        if (!is_same(it, i, j) || is_other_step(it, i, j))
            return false;
        with_step += it->a->step[i] != GT_RANK_JOIN_NO_STEP && it->b->step[j] != GT_RANK_JOIN_NO_STEP;
    }
    return 2 * with_step >= overlap->end - overlap->first;
}

/* Where the numbers of steps say how the lists belong together, no other shift need be tried. */
static bool join_by_steps(struct joining *it, bool are_messages, struct candidate *found) {
    int64_t step = it->a->step[it->a->count / 2];
    size_t i = first_of_step(it->a, step), j = first_of_step(it->b, step);
    if (step == GT_RANK_JOIN_NO_STEP || j == it->b->count)
        return false;
    *found = (struct candidate){.shift = (int64_t)j - (int64_t)i, .way = OVERLAP};
    struct overlap overlap = overlap_of(it, found->shift);
    size_t length = overlap.end - overlap.first;
    if (length == 0 || 2 * length < shorter_of(it) || size_of(found->shift) > GT_RANK_JOIN_SHIFTS ||
        !ends_with_steps(it, &overlap) || !are_equal_steps(it, &overlap))
        return false;
    if (are_messages)
        return length == it->a->count && length == it->b->count;
    found->offset_ns = median_offset(it, &overlap);
    return 100 * count_fitting(it, &overlap, found->offset_ns, false) >= 99 * length;
}

bool gt_rank_join(const struct gt_rank_join_list *a, const struct gt_rank_join_list *b, bool are_messages,
                  uint32_t *partner, bool *is_guessed) {
    struct joining it = {.a = a, .b = b, .least_quality = INT64_MAX};
    size_t longer = a->count > b->count ? a->count : b->count, count = 0, best = 0;
    struct candidate *list = gt_mem_uninitialised(2 * (2 * GT_RANK_JOIN_SHIFTS + 1), sizeof *list);
    it.scratch = gt_mem_uninitialised(longer, sizeof *it.scratch);
    bool ok = list && it.scratch;
    *is_guessed = are_messages && a->count != b->count && !(has_steps(a) && has_steps(b));
    for (size_t j = 0; j < b->count; j++)
        partner[j] = UINT32_MAX;
    bool is_known = ok && a->count && b->count && join_by_steps(&it, are_messages, list);
    count += is_known;
    if (ok && !is_known)
        try_shifts(&it, are_messages, list, &count);
    if (ok && count == 0) {
        it.ignores_steps = true;
        try_shifts(&it, are_messages, list, &count);
    }
    int64_t limit = limit_of(&it);
    bool is_found = false;
    for (size_t i = 0; ok && i < count; i++)
        if (list[i].quality <= limit && (!is_found || is_better(&list[i], &list[best]))) {
            best = i;
            is_found = true;
        }
    if (ok && is_found)
        put_pairs(&it, &list[best], are_messages, partner);
    gt_mem_free(list);
    gt_mem_free(it.scratch);
    return ok;
}
