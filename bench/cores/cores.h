/* Included before every source of the program that `make cores` builds: work that is dealt by a counter, without a
   lock, is a place where another thread may have its turn. */
#ifndef BENCH_CORES_CORES_H
#define BENCH_CORES_CORES_H
#ifndef __ASSEMBLER__

#include <stdatomic.h>

void cores_turn(void);

#undef atomic_fetch_add
#define atomic_fetch_add(object, operand) (cores_turn(), __atomic_fetch_add(object, operand, __ATOMIC_SEQ_CST))

#endif
#endif
