/* Threads that wait for each other: none misses a ring, whether it looks on or sleeps. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <time.h>

#include <cmocka.h>

#include "base/bell.h"

enum { PLAYERS = 3, TURNS = 500, LONG_WAIT_NS = 5 * 1000 * 1000 };

struct game {
    pthread_mutex_t lock;
    struct gt_bell bell;
    bool may_look;
    int turn, played; /* whose turn it is, and how many there were */
};

struct player {
    struct game *game;
    int number;
    pthread_t thread;
};

static void *play(void *argument) {
    const struct player *player = argument;
    struct game *game = player->game;
    pthread_mutex_lock(&game->lock);
    for (int i = 0; i < TURNS; i++) {
        while (game->turn != player->number)
            gt_bell_wait(&game->bell, &game->lock, game->may_look);
        game->turn = (game->turn + 1) % PLAYERS;
        game->played++;
        gt_bell_ring(&game->bell);
    }
    pthread_mutex_unlock(&game->lock);
    return NULL;
}

static void begin_game(struct game *game, bool may_look) {
    *game = (struct game){.lock = PTHREAD_MUTEX_INITIALIZER, .may_look = may_look};
    gt_bell_init(&game->bell);
}

static void end_game(struct game *game) {
    assert_int_equal(game->bell.sleeping, 0);
    gt_bell_release(&game->bell);
    pthread_mutex_destroy(&game->lock);
}

static void play_by_turns(bool may_look) {
    struct game game;
    struct player players[PLAYERS];
    begin_game(&game, may_look);
    for (int i = 0; i < PLAYERS; i++) {
        players[i] = (struct player){.game = &game, .number = i};
        assert_int_equal(pthread_create(&players[i].thread, NULL, play, &players[i]), 0);
    }
    for (int i = 0; i < PLAYERS; i++)
        assert_int_equal(pthread_join(players[i].thread, NULL), 0);
    assert_int_equal(game.played, PLAYERS * TURNS);
    end_game(&game);
}

static void who_looks_misses_no_ring(void **state) {
    (void)state;
    play_by_turns(true);
}

static void who_sleeps_misses_no_ring(void **state) {
    (void)state;
    play_by_turns(false);
}

static void *ring_late(void *argument) {
    struct game *game = argument;
    nanosleep(&(struct timespec){.tv_nsec = LONG_WAIT_NS}, NULL);
    pthread_mutex_lock(&game->lock);
    game->turn = 1;
    gt_bell_ring(&game->bell);
    pthread_mutex_unlock(&game->lock);
    return NULL;
}

/* Much longer than anyone looks on. */
static void who_looked_in_vain_is_woken(void **state) {
    (void)state;
    struct game game;
    pthread_t thread;
    begin_game(&game, true);
    assert_int_equal(pthread_create(&thread, NULL, ring_late, &game), 0);
    pthread_mutex_lock(&game.lock);
    while (game.turn == 0)
        gt_bell_wait(&game.bell, &game.lock, game.may_look);
    pthread_mutex_unlock(&game.lock);
    assert_int_equal(pthread_join(thread, NULL), 0);
    end_game(&game);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(who_looks_misses_no_ring),
        cmocka_unit_test(who_sleeps_misses_no_ring),
        cmocka_unit_test(who_looked_in_vain_is_woken),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
