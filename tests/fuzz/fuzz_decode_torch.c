/* Fuzzes the decoder of PyTorch's JSON alone. */
#include "decode_alone.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    return fuzz_decode_alone("torch-json", data, size, 1);
}
