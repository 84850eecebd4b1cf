/* Fuzzes the decoder of NCCL Inspector's logs alone. */
#include "decode_alone.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    return fuzz_decode_alone("nccl-inspector", data, size, 1);
}
