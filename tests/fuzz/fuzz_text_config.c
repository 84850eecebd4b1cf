/* Fuzzes configurations of class statistics alone: the bytes are the file, which gives inputs or an error. */
#include "in_memory.h"
#include "text_input.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    struct gputime_config *config = NULL;
    struct gputime_error err = {.status = GPUTIME_OK};
    if (size > FUZZ_TEXT_MAX || (size && (data[0] == 0x1f || data[0] == 0x28 || data[0] == 0xfd)))
        return 0;
    if (gputime_config_open(fuzz_memory_file(0, data, size), &config, &err) != GPUTIME_OK)
        fuzz_must(err.message[0]);
    for (size_t i = 0; config && i < gputime_config_input_count(config); i++) {
        struct gputime_run run = GPUTIME_RUN_INIT;
        size_t path_count = 0;
        fuzz_must(gputime_config_paths(config, i, &path_count) && path_count);
        gputime_config_run(config, i, &run);
    }
    gputime_config_free(config);
    return 0;
}
