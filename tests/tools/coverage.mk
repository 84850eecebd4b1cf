# Which lines and branches the tests reach, by clang: `make coverage` (unit tests, fuzz inputs and the program's tests) and
# `make fuzz-coverage` (fuzz inputs alone, with those of build/fuzz/corpus). Part of the Makefile.
# Everything goes into build/coverage; what is not reached is listed in build/coverage/unreached.

LLVM_PROFDATA ?= $(firstword $(shell command -v llvm-profdata llvm-profdata-14))
LLVM_COV      ?= $(firstword $(shell command -v llvm-cov llvm-cov-14))
# Processes of one program share four files, into which each adds its counts when it ends.
PROFILES      := $(abspath build/coverage/profiles)
PROFILE_OF     = LLVM_PROFILE_FILE=$(PROFILES)/$1/%4m.profraw
COVERED       := --no-print-directory -s -j$(JOBS) CC="$(CLANG)" BUILD=build/coverage HARDEN=0 \
    CFLAGS="-O1 -fprofile-instr-generate -fcoverage-mapping" LDFLAGS="-fprofile-instr-generate"

# Of the tests of the program, those that build it or look at its binaries or its sources say nothing about what is reached,
# those that measure it find another program, and where the system fails there is no profile. make coverage PYTESTS=FILES: these alone.
PYTESTS       ?= tests/cli
NOT_COVERED   := build bundle duckdb growth includes install machine_faults mpi mpi_faults passes python_lifetime python_wheel rooms static
COVERED_PYTESTS := $(PYTESTS) $(NOT_COVERED:%=--ignore=tests/cli/test_%.py) \
    -k "not full_disk and not short_stack and not little_memory and not library_is_found and not page_on_frames"
COVERED_TOOLS := dump_rows explore_trace dump_commands jobgen
THERE         := $(abspath build/coverage)
COVERED_PROGRAMS := GPUTIME=$(THERE)/gputime GPUTIME_ASAN=$(THERE)/gputime GPUTIME_DUMP_ROWS=$(THERE)/dump_rows \
    GPUTIME_EXPLORE=$(THERE)/explore_trace GPUTIME_DUMP_COMMANDS=$(THERE)/dump_commands GPUTIME_JOBGEN=$(THERE)/jobgen \
    GPUTIME_LIBRARY=$(THERE)/libgputime.so GPUTIME_EXTENSION=$(THERE)/gputime.so

.PHONY: coverage coverage-unit coverage-pytest coverage-replay coverage-report fuzz-coverage

coverage:
	@./setup.sh build test fuzz && ./setup.sh coverage
	@rm -rf $(PROFILES)
	@$(MAKE) --no-print-directory -s coverage-unit
	@$(MAKE) --no-print-directory -s coverage-replay
	@$(MAKE) --no-print-directory -s coverage-pytest
	@$(MAKE) --no-print-directory -s coverage-report

# What is timed is another program here.
coverage-unit:
	@$(call PROFILE_OF,unit) $(MAKE) $(COVERED) SKIP=test_classify_speed unit

coverage-replay:
	@$(call PROFILE_OF,fuzz) $(MAKE) $(COVERED) replay

coverage-pytest:
	@$(MAKE) $(COVERED) $(addprefix build/coverage/,gputime libgputime.so gputime.so $(COVERED_TOOLS))
	@$(call PROFILE_OF,pytest) $(COVERED_PROGRAMS) $(PYTHON) -m pytest -q -n $(JOBS) --dist loadgroup $(COVERED_PYTESTS)

COVERAGE_PY = $(PYTHON) tests/tools/coverage.py
MERGE = $(LLVM_PROFDATA) merge -sparse -o build/coverage
MEASURED = $(LLVM_COV) build/coverage/libgputime.so
coverage-report:
	@$(MAKE) $(COVERED) build/coverage/libgputime.so
	@$(MERGE)/tests.profdata $(PROFILES)
	@$(MERGE)/fuzz.profdata $(PROFILES)/fuzz
	@$(COVERAGE_PY) unreached $(MEASURED) build/coverage/tests.profdata > build/coverage/unreached
	@$(COVERAGE_PY) files $(MEASURED) build/coverage/tests.profdata > build/coverage/files
	@$(COVERAGE_PY) table $(MEASURED) "all tests=build/coverage/tests.profdata" "fuzz inputs=build/coverage/fuzz.profdata"
	@$(COVERAGE_PY) check $(MEASURED) build/coverage/tests.profdata docs/coverage.md

fuzz-coverage:
	@./setup.sh build fuzz && ./setup.sh coverage
	@rm -rf $(PROFILES)/fuzz
	@$(MAKE) --no-print-directory -s coverage-replay
	@$(MAKE) $(COVERED) build/coverage/libgputime.so
	@set -e; $(foreach name,$(FUZZ_NAMES),$(if $(wildcard build/fuzz/corpus/$(name)/*),$(call PROFILE_OF,fuzz) \
	    build/coverage/replay/$(name) $(wildcard build/fuzz/corpus/$(name)/*);))
	@$(MERGE)/fuzz.profdata $(PROFILES)/fuzz
	@$(COVERAGE_PY) unreached $(MEASURED) build/coverage/fuzz.profdata > build/coverage/unreached_by_fuzzing
	@$(COVERAGE_PY) table $(MEASURED) "fuzz inputs=build/coverage/fuzz.profdata"
