/* Fuzzes the decoder of the CSVs of `nsys stats` alone. */
#include "decode_alone.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    return fuzz_decode_alone("nsys-csv", data, size, 4);
}
