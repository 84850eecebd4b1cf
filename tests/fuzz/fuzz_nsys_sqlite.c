/* Fuzzes the reader of Nsight Systems' SQLite exports and everything after it. */
#include "run_report.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    return fuzz_report_of(data, size);
}
