/* Fuzzes the decoder of Perfetto traces alone. */
#include "decode_alone.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    return fuzz_decode_alone("perfetto", data, size, 1);
}
