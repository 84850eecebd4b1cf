/* Fuzzes the decoder of ROCm's databases alone. */
#include "decode_alone.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    return fuzz_decode_alone("rocpd", data, size, 1);
}
