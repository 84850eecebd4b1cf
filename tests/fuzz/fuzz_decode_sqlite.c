/* Fuzzes the decoder of Nsight's SQLite exports alone. */
#include "decode_alone.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    return fuzz_decode_alone("nsys-sqlite", data, size, 1);
}
