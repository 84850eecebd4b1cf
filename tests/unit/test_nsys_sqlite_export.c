/* Exports that nsys is asked to make, which a script replaces: payloads of ranges are asked for where collectives are,
   and an nsys that does not know them is asked again without. */
#include <sys/stat.h>

#include "decode/nsys/nsys_export.h"
#include "nsys_export.h"

static char command[128], said[128], temporary[128], refusal[128];

static int begin(void **state) {
    if (world_begin(state) != 0)
        return -1;
    snprintf(command, sizeof command, "%s/nsys", world_folder);
    snprintf(said, sizeof said, "%s/said", world_folder);
    snprintf(refusal, sizeof refusal, "%s/refusal", world_folder);
    snprintf(temporary, sizeof temporary, "/tmp/gputime-asked-%d", (int)getpid());
    FILE *script = fopen(command, "w");
    if (!script)
        return -1;
    fprintf(script,
            "#!/bin/sh\necho \"$1 $2 $3 $4 $6\" >> %s\n"
            "case \"$*\" in *blobs*) [ -e %s ] && { echo unknown option; touch \"$5\"; exit 1; } ;; esac\n"
            "cp %s \"$5\"\n",
            said, refusal, world_path);
    if (fclose(script) != 0 || chmod(command, 0700) != 0 || mkdir(temporary, 0700) != 0)
        return -1;
    world_make(world_path, STRINGS KERNELS ONE_KERNEL);
    return setenv("TMPDIR", temporary, 1);
}

static int end(void **state) {
    rmdir(temporary);
    return world_end(state);
}

/* How often nsys was run, and how often with the option. */
static void assert_runs(uint32_t facts, int runs, int with_option) {
    struct gt_decode_options options = {.threads = 1, .nsys_command = command, .facts = facts};
    struct gt_error err = {0};
    struct gt_store *store = NULL;
    char line[160];
    unlink(said);
    assert_int_equal(gt_nsys_export_decode("/dev/null", "report", &options, &store, &err), GT_OK);
    assert_int_equal(store->ops.count, 1);
    gt_store_free(store);
    FILE *file = fopen(said, "r");
    assert_non_null(file);
    while (fgets(line, sizeof line, file)) {
        runs--;
        with_option -= strcmp(line, "export --type sqlite --output --include-blobs=true\n") == 0;
        assert_int_equal(strncmp(line, "export --type sqlite --output ", 30), 0);
    }
    fclose(file);
    assert_int_equal(runs, 0);
    assert_int_equal(with_option, 0);
}

static void test_payloads_are_asked_for(void **state) {
    (void)state;
    assert_runs(0, 1, 0);
    assert_runs(GT_FACT_OPS, 1, 0);
    assert_runs(GT_FACT_COMMS, 1, 1);
}

static void test_older_versions(void **state) {
    (void)state;
    world_write(refusal, (const unsigned char *)"", 0);
    assert_runs(GT_FACT_COMMS, 2, 1);
    assert_runs(GT_FACT_OPS, 1, 0);
    unlink(refusal);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_payloads_are_asked_for),
        cmocka_unit_test(test_older_versions),
    };
    return cmocka_run_group_tests_name("nsys_sqlite_export", tests, begin, end);
}
