/* Fuzzes the decoder of Nsight reports alone. */
#include "decode_alone.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    return fuzz_decode_alone("nsys-rep", data, size, 1);
}
