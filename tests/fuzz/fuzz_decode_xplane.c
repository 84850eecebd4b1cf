/* Fuzzes the decoder of XLA's XSpace alone. */
#include "decode_alone.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    return fuzz_decode_alone("xplane", data, size, 1);
}
