# gputime: `make` builds, `make demo` shows the report of a real trace, `make test` runs every test. Only `setup`, `demo`,
# `test` and targets for developers install packages. CFLAGS, CPPFLAGS, LDFLAGS and LDLIBS are the user's; they follow the
# project's own. HARDEN=0 builds without hardening, WEB=0 without the page of --format html.
.DEFAULT_GOAL := all
MAKEFLAGS += --no-builtin-rules
.DELETE_ON_ERROR:

BUILD   ?= build
# The Debian package python3-pytest belongs to the system's own Python.
PYTHON  ?= $(firstword $(wildcard /usr/bin/python3) python3)
JOBS    ?= $(shell nproc 2>/dev/null || echo 2)
CC      := $(if $(filter default,$(origin CC)),gcc,$(CC))
OBJCOPY ?= objcopy
HARDEN  ?= 1
WEB     ?= 1
VERSION := $(shell sed -n 's/^.define GPUTIME_VERSION "\(.*\)"/\1/p' include/gputime.h)
# Before 1.0 every minor version may change the interface.
NUMBERS := $(subst ., ,$(VERSION))
SONAME  := libgputime.so.$(firstword $(NUMBERS))$(if $(filter 0,$(firstword $(NUMBERS))),.$(word 2,$(NUMBERS)))

# What this system has, found by probe.sh. Some goals compile nothing, or install what is missing before they compile.
UNPROBED := setup setup-% demo test test-shared unit replay unit-replay threaded corrupt pytest asan counted cores tsan clang fuzz fuzz-corpus fuzz-coverage coverage coverage-% laws faults lint lint-deep lint-page format bench \
    page static mpi mpi-both test-mpi test-slurm dist deb test-package clean uninstall
ifneq ($(filter-out $(UNPROBED),$(or $(MAKECMDGOALS),all)),)
include $(BUILD)/config.mk
endif
ifneq ($(filter %/static/gputime,$(MAKECMDGOALS)),)
include $(BUILD)/static/config.mk
endif

WARNINGS     := -Wall -Wextra -Wshadow -Wconversion -Wstrict-prototypes -Wmissing-prototypes -Wvla
USER_FLAGS   := $(CPPFLAGS) $(CFLAGS)
BASE_FLAGS   := -std=c17 -O2 -g -fPIC -fvisibility=hidden -pthread $(WARNINGS)
PLACES       := -Iinclude -Ilib -D_GNU_SOURCE
OWN_CPPFLAGS := $(PLACES) $(if $(findstring _FORTIFY_SOURCE,$(USER_FLAGS)),,$(CONFIG_HARDEN_MACROS))
OWN_CFLAGS   := $(BASE_FLAGS) $(CONFIG_HARDEN_CODE)
OWN_LDFLAGS  := $(CONFIG_HARDEN_LINK)
COMMON_LIBS  := -pthread -lsqlite3 -lzstd -llz4 -lpcre2-8 -lm -ldl
COMPILE       = $(CC) $(OWN_CPPFLAGS) $(CONFIG_DEFINES) $(OWN_CFLAGS) $(CPPFLAGS) $(CFLAGS) -MMD -MP
LINK          = $(CC) $(OWN_CFLAGS) $(CFLAGS) $(OWN_LDFLAGS) $(LDFLAGS)
LIBS         := $(CONFIG_LIBS) $(COMMON_LIBS) $(LDLIBS)

# Every file below the folders $1 whose name matches $2.
files_of    = $(sort $(shell find $1 -type f -name '$2'))
objects_of  = $(patsubst %.c,$(BUILD)/obj/%.o,$1)

LIB_SOURCES := $(filter-out lib/extension.c,$(call files_of,lib,*.c))
LIB_OBJECTS := $(call objects_of,$(LIB_SOURCES)) $(BUILD)/obj/lib/write/page.o $(BUILD)/obj/lib/definitions.text.o
CLI_OBJECTS := $(call objects_of,$(call files_of,cli,*.c))
UNIT_TESTS  := $(patsubst tests/unit/%.c,$(BUILD)/unit/%,$(filter-out $(SKIP:%=tests/unit/%.c),$(wildcard tests/unit/test_*.c)))
# What takes longest begins first, so that no core waits at the end.
longest_first = $(filter $1,$2) $(filter-out $1,$2)
UNIT_TESTS  := $(call longest_first,$(BUILD)/unit/test_torture%,$(UNIT_TESTS))
FUZZ_NAMES  := $(call longest_first,fuzz_torch_json fuzz_ways,$(patsubst tests/fuzz/%.c,%,$(wildcard tests/fuzz/fuzz_*.c)))
FUZZERS     := $(FUZZ_NAMES:%=build/fuzz/%)
REPLAYS     := $(FUZZ_NAMES:%=$(BUILD)/replay/%)
FUZZ_TOOLS  := $(call objects_of,$(filter-out tests/fuzz/fuzz_%,$(wildcard tests/fuzz/*.c)))
SOURCES     := $(call files_of,include lib cli mpi docs/examples tests/unit tests/faults tests/fuzz tests/passes tests/tools bench,*.[ch])

.PHONY: all static wheel mpi mpi-both test-mpi test-slurm page setup demo test unit replay corrupt pytest browser setup-test setup-lint bench asan tsan fuzz fuzz-corpus laws faults lint \
    lint-all format install uninstall dist deb deb-packages test-package clean FORCE

all: $(BUILD)/gputime $(BUILD)/libgputime.a $(BUILD)/libgputime.so $(BUILD)/gputime.so

setup:
	@./setup.sh build

# Another compiler or other flags build everything again.
STAMP := $(strip $(CC) $(BASE_FLAGS) | $(CPPFLAGS) | $(CFLAGS) | $(LDFLAGS) | $(LDLIBS) | HARDEN=$(HARDEN) WEB=$(WEB))
$(BUILD)/flags: export STAMP := $(STAMP)
$(BUILD)/flags: $(if $(subst x$(STAMP)x,,x$(strip $(file <$(BUILD)/flags))x),FORCE)
	@mkdir -p $(@D) && printf '%s\n' "$$STAMP" > $@

%/config.mk: export PROBE_COMPILER = $(CC) $(BASE_FLAGS) $(CPPFLAGS) $(CFLAGS) $(LDFLAGS)
%/config.mk: export PROBE_LIBS := $(LDLIBS)
%/config.mk: export PROBE_HARDEN := $(HARDEN)
$(BUILD)/config.mk: probe.sh $(BUILD)/flags
	@./probe.sh CONFIG > $@

$(BUILD)/obj/%.o: %.c $(BUILD)/config.mk
	@mkdir -p $(@D)
	$(COMPILE) -c -o $@ $<

# The page of --format html, as `make page` made it.
PAGE := $(if $(filter-out 0,$(WEB)),web/dist/page.html)
$(BUILD)/obj/lib/write/page.o: lib/write/page.S $(PAGE) $(BUILD)/config.mk
	@mkdir -p $(@D)
	$(CC) $(CPPFLAGS) $(CFLAGS) $(if $(PAGE),-DGT_HAVE_PAGE=1) -c -o $@ $<

# What every number and word means: for `gputime define` and for the page.
$(BUILD)/obj/lib/definitions.text.o: lib/definitions.S docs/measures.md docs/words.md $(BUILD)/config.mk
	@mkdir -p $(@D)
	$(CC) $(CPPFLAGS) $(CFLAGS) -c -o $@ $<

# A cached trace is as good as the code that decoded it, so that code's checksum is part of the cache's key.
DECODING := $(call files_of,lib/base lib/decode lib/events,*)
$(BUILD)/obj/lib/events/cache_key.o: $(DECODING)
$(BUILD)/obj/lib/events/cache_key.o: OWN_CPPFLAGS += -DGT_DECODING='"$(firstword $(shell cat $(DECODING) | cksum))"'

$(BUILD)/libgputime.a: $(LIB_OBJECTS)
	rm -f $@ && $(AR) rcs $@ $^

# Under the name that programs load it by, so that it can be used before it is installed.
$(BUILD)/$(SONAME): $(LIB_OBJECTS)
	$(LINK) -shared -Wl,-soname,$(SONAME) -o $@ $^ $(LIBS)

$(BUILD)/libgputime.so: $(BUILD)/$(SONAME)
	ln -sf $(SONAME) $@

$(BUILD)/gputime: $(CLI_OBJECTS) $(BUILD)/libgputime.a
	$(LINK) $(CONFIG_HARDEN_PROGRAM) -o $@ $^ $(LIBS)

# The extension of SQLite, under the name that `.load gputime` looks for. It calls the SQLite of the program that loads it, so
# it has its own objects of lib/sql, and nothing that queries or serves.
EXTENSION_SOURCES := lib/extension.c $(addprefix lib/sql/sql_,filter.c frames.c functions.c memory.c plan.c reports.c)
EXTENSION_OBJECTS := $(EXTENSION_SOURCES:%.c=$(BUILD)/extension/%.o)
$(BUILD)/extension/%.o: %.c $(BUILD)/config.mk
	@mkdir -p $(@D)
	$(COMPILE) -DGT_SQL_EXTENSION=1 -c -o $@ $<

NOT_IN_EXTENSION := $(BUILD)/obj/lib/sql/% $(BUILD)/obj/lib/serve/% $(BUILD)/obj/lib/viewing% $(addprefix $(BUILD)/obj/lib/,querying.o parts.o)
$(BUILD)/gputime.so: $(EXTENSION_OBJECTS) $(filter-out $(NOT_IN_EXTENSION),$(LIB_OBJECTS))
	$(LINK) -shared -Wl,-Bsymbolic -o $@ $^ $(LIBS)

# ---- the program for several processes ----

# make mpi MPICC=mpicc.mpich: mpicc of Open MPI or MPICH. Nothing else needs MPI.
MPICC ?= mpicc
MPI_PROGRAM ?= $(BUILD)/gputime-mpi
MPI_SOURCES := $(call files_of,mpi,*.c)

mpi:
	@command -v $(MPICC) >/dev/null || { echo "make mpi: no $(MPICC); install Open MPI or MPICH, or set MPICC" >&2; exit 1; }
	@$(MAKE) --no-print-directory -s -j$(JOBS) $(MPI_PROGRAM)

$(MPI_PROGRAM): $(MPI_SOURCES) $(call files_of,mpi,*.h) $(filter-out %/cli/main.o,$(CLI_OBJECTS)) $(BUILD)/libgputime.a
	@mkdir -p $(@D)
	OMPI_CC="$(CC)" MPICH_CC="$(CC)" $(MPICC) $(OWN_CPPFLAGS) $(CPPFLAGS) $(OWN_CFLAGS) $(CFLAGS) $(OWN_LDFLAGS) $(LDFLAGS) -o $@ \
	    $(MPI_SOURCES) $(filter %.o %.a,$^) $(LIBS)

# With every MPI that is there, for tests.
MPIS := $(foreach name,openmpi mpich,$(if $(shell command -v mpicc.$(name)),$(name)))
mpi-both:
	@for name in $(MPIS); do $(MAKE) --no-print-directory -s mpi MPICC=mpicc.$$name \
	    MPI_PROGRAM=$(BUILD)/mpi/$$name/gputime-mpi || exit 1; done

# ---- the Python package ----

# The library for a wheel has other libraries inside where their archives can be part of a shared one; make_wheel.py packs
# the rest beside it, where it looks first. Nothing but gputime_* can be seen of it, so that no other copy of SQLite minds.
# The server is left out: the package has no use for it.
WHEEL_INSIDE := -lsqlite3 -lzstd -llz4 -lpcre2-8 $(filter -llzma,$(CONFIG_LIBS))
SERVING       := $(shell grep -rl --include='*.c' GT_HAVE_MICROHTTPD lib)
WHEEL_OBJECTS := $(SERVING:%.c=$(BUILD)/wheel/obj/%.o) $(filter-out $(call objects_of,$(SERVING)),$(LIB_OBJECTS))
$(BUILD)/wheel/obj/%.o: CONFIG_DEFINES := $(filter-out -DGT_HAVE_MICROHTTPD=%,$(CONFIG_DEFINES))
$(BUILD)/wheel/obj/%.o: %.c $(BUILD)/config.mk
	@mkdir -p $(@D)
	$(COMPILE) -c -o $@ $<
WHEEL_LINK    = $(LINK) -shared -s -Wl,-soname,$(SONAME) -Wl,--version-script=python/exports.map -Wl,-rpath,'$$ORIGIN' -o $@
$(BUILD)/wheel/$(SONAME): $(WHEEL_OBJECTS) python/exports.map
	@mkdir -p $(@D)
	$(WHEEL_LINK) $(WHEEL_OBJECTS) -Wl,-Bstatic $(WHEEL_INSIDE) -Wl,-Bdynamic $(filter-out -llzma,$(CONFIG_LIBS)) -pthread -lm $(LDLIBS) 2>$@.log || \
	    { echo "make wheel: no archives of libraries that can be part of a shared one; packing shared ones"; \
	      $(WHEEL_LINK) $(WHEEL_OBJECTS) $(LIBS); }

wheel: $(BUILD)/wheel/$(SONAME)
	@rm -f $(BUILD)/wheel/*.whl
	@$(PYTHON) python/make_wheel.py $< $(BUILD)/wheel

# ---- the program with all libraries inside ----

static:
	@$(MAKE) --no-print-directory $(BUILD)/static/gputime

$(BUILD)/static/config.mk: export PROBE_COMPILER = $(CC) $(BASE_FLAGS) $(CPPFLAGS) $(CFLAGS) $(LDFLAGS) -static
$(BUILD)/static/config.mk: probe.sh $(BUILD)/flags
	@mkdir -p $(@D)
	@./probe.sh STATIC > $@

# Its objects are those of the other program, but for the few that choose between libraries or say what is inside.
CHOOSING       := $(shell grep -rlE --include='*.c' 'GT_HAVE_ISAL|GT_HAVE_LZMA|GT_HAVE_MICROHTTPD|GT_STATIC' lib)
STATIC_OBJECTS := $(CHOOSING:%.c=$(BUILD)/static/obj/%.o) $(filter-out $(call objects_of,$(CHOOSING)),$(LIB_OBJECTS))
$(BUILD)/static/obj/%.o: CONFIG_DEFINES = -DGT_STATIC=1 $(STATIC_DEFINES)
$(BUILD)/static/obj/%.o: %.c $(BUILD)/static/config.mk
	@mkdir -p $(@D)
	$(COMPILE) -c -o $@ $<

$(BUILD)/static/gputime: $(CLI_OBJECTS) $(STATIC_OBJECTS)
	$(LINK) -static -Wl,--wrap=dlopen -o $@ $^ $(STATIC_LIBS) $(COMMON_LIBS) $(LDLIBS)

$(BUILD)/unit/%: tests/unit/%.c $(BUILD)/libgputime.a
	@mkdir -p $(@D)
	$(COMPILE) $(OWN_LDFLAGS) $(LDFLAGS) -o $@ $< $(filter %.o %/libprogram.a,$^) $(BUILD)/libgputime.a -lcmocka -lz $(LIBS)

# Calls that these tests make fail, one after the other.
TORTURED := malloc calloc realloc free strdup asprintf mmap mremap munmap read pread write pwrite fsync rename renameat pthread_create \
    gt_arena_alloc gt_arena_array gt_arena_room gt_arena_copy
$(filter $(BUILD)/unit/test_torture%,$(UNIT_TESTS)): OWN_LDFLAGS += $(TORTURED:%=-Wl,--wrap=%)
$(BUILD)/unit/test_torture_commands: $(BUILD)/libprogram.a

# Tests that start threads, which are what ThreadSanitizer can judge. In all others a thread that is started is an error, so
# that the list is complete.
THREADED := api bell blocks bulk_copies by_row step_parts chain_links picked strtab_lists cache collectives comparison counters explore facts frame job job_team late_start launch_wait ledger mapping measure_graph measure_idle measure_launches measure_nsight \
    measure_ranges measure_tables measure_time members nsys_rep nsys_rep_broken nsys_rep_export nsys_rep_facts \
    nsys_sqlite nsys_sqlite_asked nsys_sqlite_metrics nsys_sqlite_ways op_groups out_slices range_gather readahead row source store temporary \
    serve slices sort spans sparse threads timeline torch_broken torch_packed torch_facts torch_fast torch_json torch_mapped view view_slots viewing write_data xplane xplane_dealt
THREADED := $(patsubst %,$(BUILD)/unit/test_%,$(call longest_first,blocks members torch_broken torch_packed timeline,$(THREADED)))
NO_THREADS := $(filter-out $(THREADED) $(BUILD)/unit/test_torture%,$(UNIT_TESTS))
$(NO_THREADS) $(BUILD)/unit/test_torch_packed: OWN_LDFLAGS += -Wl,--wrap=pthread_create
$(NO_THREADS): $(BUILD)/obj/tests/unit/no_threads.o
$(BUILD)/unit/test_slices $(BUILD)/unit/test_bulk_copies $(BUILD)/unit/test_by_row $(BUILD)/unit/test_step_parts $(BUILD)/unit/test_picked $(BUILD)/unit/test_launch_wait $(BUILD)/unit/test_chain_links $(BUILD)/unit/test_range_gather $(BUILD)/unit/test_spans: $(BUILD)/obj/tests/unit/short_slices.o
$(BUILD)/unit/test_out: OWN_LDFLAGS += -Wl,--wrap=sync_file_range -Wl,--wrap=fallocate
$(BUILD)/unit/test_store $(BUILD)/unit/test_slices $(BUILD)/unit/test_torch_json: $(BUILD)/obj/tests/unit/short_parts.o

# The program for tests that run it, or parts of it, inside of themselves: its main function has another name.
$(BUILD)/libprogram.a: $(CLI_OBJECTS)
	$(OBJCOPY) --redefine-sym main=gputime_main $(BUILD)/obj/cli/main.o $(BUILD)/main.o
	rm -f $@ && $(AR) rcs $@ $(filter-out %/cli/main.o,$^) $(BUILD)/main.o

IN_PROCESS := $(BUILD)/libprogram.a $(BUILD)/libgputime.a

# Prints the rows of a store, for tests that read the same file in another way.
$(BUILD)/dump_rows: $(BUILD)/obj/tests/tools/dump_rows.o $(BUILD)/libgputime.a
	$(LINK) -o $@ $^ $(LIBS)

# Asks a trace what the explorer asks, for tests and for measuring.
$(BUILD)/explore_trace: $(BUILD)/obj/tests/tools/explore_trace.o $(BUILD)/libgputime.a
	$(LINK) -o $@ $^ $(LIBS)

# Prints the command table, for the Python package.
$(BUILD)/dump_commands: $(BUILD)/obj/tests/tools/dump_commands.o $(IN_PROCESS)
	$(LINK) -o $@ $^ $(LIBS)

# Makes traces of simulated jobs with many ranks, for measuring and for tests that know the truth.
JOBGEN_OBJECTS := $(call objects_of,$(call files_of,bench/jobs,*.c))
$(BUILD)/jobgen: $(JOBGEN_OBJECTS)
	$(LINK) -o $@ $^ -lz

# Reads the traces of a job and does nothing else, for comparing the time of `gputime ranks` with that.
$(BUILD)/read_job: $(BUILD)/obj/bench/read_job.o $(BUILD)/libgputime.a
	$(LINK) -o $@ $^ $(LIBS)

-include $(EXTENSION_OBJECTS:.o=.d) $(JOBGEN_OBJECTS:.o=.d) $(BUILD)/obj/bench/read_job.d $(BUILD)/obj/tests/tools/dump_rows.d $(BUILD)/obj/tests/tools/explore_trace.d $(BUILD)/obj/tests/tools/dump_commands.d $(LIB_OBJECTS:.o=.d) $(STATIC_OBJECTS:.o=.d) $(CLI_OBJECTS:.o=.d) $(FUZZ_TOOLS:.o=.d) $(UNIT_TESTS:=.d) $(wildcard $(BUILD)/obj/tests/unit/*.d) $(REPLAYS:=.d) $(FUZZERS:=.d)

demo: setup
	@$(MAKE) --no-print-directory -s -j$(JOBS) all
	$(BUILD)/gputime tests/data/torch/llama_train_compiled.json.gz

# ---- tests ----

# More samples than the repository has, where a folder of them lies next to it. Tests know it by the variable only.
SHARED ?= $(wildcard ../shared)
export GPUTIME_SHARED := $(if $(SHARED),$(abspath $(SHARED)))

# Unit tests run with sanitizers, which see more; without them here those that look at speed or at limits of the system,
# and in `make clang` all.
PLAIN_TESTS = $(notdir $(basename $(shell grep -lE '__OPTIMIZE__|RLIMIT_' tests/unit/test_*.c)))
test: setup-test
	@$(MAKE) --no-print-directory -s -j$(JOBS) all asan counted $(BUILD)/dump_rows $(BUILD)/explore_trace $(BUILD)/dump_commands $(BUILD)/jobgen $(BUILD)/faulty.so
	@$(MAKE) --no-print-directory -s mpi-both
	@$(MAKE) --no-print-directory -s unit ONLY="$(PLAIN_TESTS)"
	@$(MAKE) --no-print-directory -s unit-replay BUILD=build/asan $(ASAN)
	@$(MAKE) --no-print-directory -s corrupt N=250
	@$(MAKE) --no-print-directory -s pytest
	@$(MAKE) --no-print-directory -s browser

.PHONY: counted cores test-shared unit-replay threaded clang lint-page lint-deep lint-deep-all

# What a clone without those samples skips.
test-shared:
	@$(MAKE) --no-print-directory -s unit ONLY="test_nsys_sqlite_ways test_sqlite_pages"
	@$(MAKE) --no-print-directory -s -j$(JOBS) $(BUILD)/dump_rows
	@$(MAKE) --no-print-directory -s pytest MARK=shared
	@$(MAKE) --no-print-directory -s browser NAMES="shared samples"

setup-test:
	@./setup.sh build test mpi

# Several processes alone; on a cluster of one machine that has Slurm.
test-mpi: setup-test
	@$(MAKE) --no-print-directory -s -j$(JOBS) all $(BUILD)/jobgen
	@$(MAKE) --no-print-directory -s mpi-both
	$(PYTHON) -m pytest -q tests/cli/test_mpi.py

test-slurm:
	@./setup.sh build test mpi slurm
	@$(MAKE) --no-print-directory -s -j$(JOBS) all $(BUILD)/jobgen
	@$(MAKE) --no-print-directory -s mpi-both
	$(PYTHON) -m pytest -q tests/slurm

# make unit ONLY="test_map test_names": these alone.
unit:
	@$(MAKE) --no-print-directory -s -j$(JOBS) --output-sync=target \
	    $(addsuffix .run,$(or $(ONLY:%=$(BUILD)/unit/%),$(UNIT_TESTS)))

$(BUILD)/unit/%.run: $(BUILD)/unit/%
	@echo "== $<"; $<

# make pytest MARK=shared: only tests that need more samples than the repository has.
pytest:
	$(PYTHON) -m pytest -q -n $(JOBS) --dist loadgroup $(if $(MARK),-m $(MARK)) tests/cli

# The whole with the other compiler, whose warnings are errors, too. Failing allocations and calls (test_torture*) are tried
# with sanitizers alone.
clang:
	@./setup.sh build test fuzz
	@$(MAKE) --no-print-directory -s -j$(JOBS) BUILD=build/clang CC=clang WARNINGS="$(WARNINGS) -Werror" all
	@$(MAKE) --no-print-directory -s unit SKIP="test_torture%" BUILD=build/clang CC=clang WARNINGS="$(WARNINGS) -Werror"

# Pages in a browser; pictures of them in build/browser.
browser: $(if $(PAGE),all $(BUILD)/jobgen build/web/packages)
	$(if $(PAGE),cd web && node node_modules/typescript/bin/tsc)
	$(if $(PAGE),node --test $(if $(NAMES),--test-name-pattern="$(NAMES)") $(wildcard tests/browser/*.test.mjs))

# Every row of every table is checked for its columns (lib/report/row.c), not only the first ones.
CHECKS := -DGT_CHECK_ROWS
SANITIZE := -Werror -fsanitize=address,undefined -fno-sanitize-recover=all -fno-omit-frame-pointer
ASAN := HARDEN=0 CFLAGS="-O1 $(CHECKS) $(SANITIZE)" LDFLAGS="$(SANITIZE)"
TSAN := HARDEN=0 CFLAGS="-O1 $(CHECKS) -fsanitize=thread" LDFLAGS="-fsanitize=thread"

asan:
	@$(MAKE) --no-print-directory -s -j$(JOBS) BUILD=build/asan $(ASAN) build/asan/gputime build/asan/libgputime.so

# The program with every access to memory counted (tests/passes): what walks through the rows of a trace how often. Functions
# stay what they are in the source, but for those of headers.
COUNTED := -O1 -g0 -Wno-maybe-uninitialized -fno-inline-small-functions -fno-inline-functions-called-once -fsanitize=kernel-address \
    --param asan-instrumentation-with-call-threshold=0 --param asan-stack=0 --param asan-globals=0
COUNTED_CALLS := memcpy memmove memset memchr gt_mem_array gt_mem_uninitialised gt_mem_free gt_mem_pages_free gt_carve_column \
    gt_arena_array gt_arena_uninitialised gt_arena_release gt_arena_reset gt_arena_take gt_store_seal gt_cache_load
PASSES_OBJECTS := $(call objects_of,$(wildcard tests/passes/*.c))
$(PASSES_OBJECTS): override CFLAGS += -fno-sanitize=all
$(BUILD)/counted: $(PASSES_OBJECTS) $(CLI_OBJECTS) $(BUILD)/libgputime.a
	$(LINK) $(COUNTED_CALLS:%=-Wl,--wrap=%) -o $@ $^ $(LIBS)
-include $(PASSES_OBJECTS:.o=.d)

counted:
	@$(MAKE) --no-print-directory -s -j$(JOBS) BUILD=build/passes CC=gcc HARDEN=0 CFLAGS="$(COUNTED)" build/passes/counted

# The program as on a machine with a core for each of its threads (bench/cores): for those who have fewer.
CORES := pthread_create pthread_join pthread_mutex_lock pthread_mutex_unlock pthread_cond_wait pthread_cond_timedwait pthread_cond_signal \
    pthread_cond_broadcast
cores:
	@mkdir -p build/cores
	$(CC) -std=c17 -O2 -g -D_GNU_SOURCE $(WARNINGS) -c -o build/cores/cores.o bench/cores/cores.c
	@$(MAKE) --no-print-directory -s -j$(JOBS) BUILD=build/cores HARDEN=0 CFLAGS="-fno-omit-frame-pointer -include bench/cores/cores.h" \
	    LDFLAGS="$(CORES:%=-Wl,--wrap=%) build/cores/cores.o" build/cores/gputime

# Not the torture tests: they make allocations fail, which ThreadSanitizer's own runtime does not survive.
tsan:
	@$(MAKE) --no-print-directory -s threaded BUILD=build/tsan $(TSAN)

threaded:
	@$(MAKE) --no-print-directory -s -j$(JOBS) --output-sync=target $(THREADED:=.run)

# make laws N=100000 FIRST=0: so many random traces through every law (docs/laws.md).
FIRST ?= 0
laws:
	@./setup.sh build test
	@$(MAKE) --no-print-directory -s -j$(JOBS) all
	@$(PYTHON) tests/cli/laws/run.py --first $(FIRST) --jobs $(JOBS) $(N)

# Stands before libc and all other libraries, and makes calls fail (tests/faults).
FAULTY_SOURCES := $(wildcard tests/faults/*.c)
$(BUILD)/faulty.so: $(FAULTY_SOURCES) tests/faults/faulty.h
	@mkdir -p $(@D)
	$(CC) $(BASE_FLAGS) -fvisibility=default -D_GNU_SOURCE -shared -o $@ $(FAULTY_SOURCES)

# make faults N=100: so many points of each fault, for each command line of tests/faults/cases.py.
faults:
	@./setup.sh build test
	@$(MAKE) --no-print-directory -s -j$(JOBS) all $(BUILD)/faulty.so
	@$(PYTHON) tests/faults/run.py $(or $(N),50) --jobs $(JOBS)

# Fuzz targets, their replay within the tests, and damaged samples.
include tests/fuzz/fuzz.mk

# What the tests reach.
include tests/tools/coverage.mk

# ---- the page, for those who change it: its bundle is kept in web/dist, so that building needs no npm ----

# The packages that the lock file names; the stamp is outside of web/ so that `make clean` has them checked again.
build/web/packages: web/package.json web/package-lock.json
	@mkdir -p $(@D)
	@./setup.sh web
	@cd web && npm ci --loglevel=error --ignore-scripts --no-audit --no-fund >/dev/null
	@touch $@

# NOTICE ends in the notices of the page.
page: build/web/packages
	node web/build.mjs web/dist
	sed '/^==== The page/q' NOTICE > build/web/NOTICE
	cat build/web/NOTICE web/dist/notices.txt > NOTICE

PRETTIER := node web/node_modules/prettier/bin/prettier.cjs --config web/.prettierrc.json --log-level warn
WEB_CODE := $(wildcard web/*.mjs web/src/*.* web/src/*/*.* tests/browser/*.mjs)

# Where npm's packages cannot be had, the code of the page is left out, but never in continuous integration.
lint: setup-lint
	@$(MAKE) --no-print-directory lint-all

lint-all:
	clang-format --dry-run -Werror $(SOURCES)
	@if $(MAKE) --no-print-directory -s build/web/packages; then $(MAKE) --no-print-directory lint-page; \
	    elif [ -n "$$CI" ]; then exit 1; else echo "lint: skipped prettier and tsc, which need npm" >&2; fi
	cppcheck -q --std=c11 --enable=warning,performance,portability --inline-suppr --error-exitcode=1 -Iinclude -Ilib \
	    -j$(JOBS) lib cli
	printf '%s\n' $(filter %.c,$(filter lib/% cli/%,$(SOURCES))) | xargs -P$(JOBS) -n8 sh -c 'for file; do \
	    gcc -fanalyzer -Werror -O1 -std=c17 $(PLACES) $(CONFIG_DEFINES) -DGT_DECODING=\"\" -c -o /dev/null "$$file" || exit 255; done' gcc
	printf '%s\n' $(filter %.c,$(filter lib/% cli/%,$(SOURCES))) | xargs -P$(JOBS) -n8 \
	    sh -c 'clang-tidy --quiet --checks="-clang-analyzer-*" --warnings-as-errors="*" "$$@" -- -std=c17 $(PLACES) $(CONFIG_DEFINES)' tidy

# clang's own analyzer takes seven times as long as all the others and raises false alarms: for reading, not for a gate.
lint-deep: setup-lint
	@$(MAKE) --no-print-directory lint-deep-all

lint-deep-all:
	printf '%s\n' $(filter %.c,$(filter lib/% cli/%,$(SOURCES))) | xargs -P$(JOBS) -n8 \
	    sh -c 'clang-tidy --quiet "$$@" -- -std=c17 $(PLACES) $(CONFIG_DEFINES)' tidy

lint-page:
	$(PRETTIER) --check $(WEB_CODE)
	cd web && node node_modules/typescript/bin/tsc

setup-lint:
	@./setup.sh build lint

format: build/web/packages
	clang-format -i $(SOURCES)
	$(PRETTIER) --write $(WEB_CODE)

bench:
	@./setup.sh build bench
	@$(MAKE) --no-print-directory -s -j$(JOBS) all
	$(PYTHON) bench/run.py $(if $(QUICK),--quick)

# ---- installing ----

PREFIX     ?= /usr/local
prefix     ?= $(PREFIX)
bindir     ?= $(prefix)/bin
libdir     ?= $(prefix)/lib
includedir ?= $(prefix)/include
datadir    ?= $(prefix)/share
mandir     ?= $(datadir)/man
docdir     ?= $(datadir)/doc/gputime

LIBRARY   := $(addprefix $(libdir)/,libgputime.a $(SONAME) libgputime.so gputime.so pkgconfig/gputime.pc) $(includedir)/gputime.h
SHELLS    := $(addprefix $(datadir)/,bash-completion/completions/gputime zsh/site-functions/_gputime \
    fish/vendor_completions.d/gputime.fish)
DOCUMENTS := $(mandir)/man1/gputime.1 $(docdir)/LICENSE $(docdir)/NOTICE
SKILL     := $(datadir)/gputime/skill/SKILL.md
INSTALLED := $(bindir)/gputime $(LIBRARY) $(SHELLS) $(DOCUMENTS) $(SKILL)
# Paths as the shell takes them, below DESTDIR.
there      = $(patsubst %,'$(DESTDIR)%',$1)

# Names of programs that gputime replaces; what is there under them stays.
OLD_NAMES := gputrc2graph gputrc2graph.py nsys-llm-explain

install: all
	install -d $(call there,$(sort $(dir $(INSTALLED))))
	install -m 755 $(BUILD)/gputime $(call there,$(bindir)/gputime)
	for name in $(OLD_NAMES); do path=$(call there,$(bindir))/$$name; \
	    [ -e "$$path" ] || [ -L "$$path" ] || ln -s gputime "$$path" || exit 1; done
	install -m 644 $(BUILD)/libgputime.a $(call there,$(libdir)/libgputime.a)
	install -m 755 $(BUILD)/$(SONAME) $(call there,$(libdir)/$(SONAME))
	ln -sf $(SONAME) $(call there,$(libdir)/libgputime.so)
	install -m 755 $(BUILD)/gputime.so $(call there,$(libdir)/gputime.so)
	install -m 644 include/gputime.h $(call there,$(includedir)/gputime.h)
	printf '%s\n' 'prefix=$(prefix)' 'libdir=$(patsubst $(prefix)/%,$${prefix}/%,$(libdir))' \
	    'includedir=$(patsubst $(prefix)/%,$${prefix}/%,$(includedir))' '' 'Name: gputime' \
	    'Description: where the GPU time went, from GPU traces' 'Version: $(VERSION)' 'Cflags: -I$${includedir}' \
	    'Libs: -L$${libdir} -lgputime' 'Libs.private: $(LIBS)' > $(call there,$(libdir)/pkgconfig/gputime.pc)
	install -m 644 docs/gputime.1 $(call there,$(mandir)/man1/gputime.1)
	install -m 644 LICENSE NOTICE $(call there,$(docdir))
	install -m 644 packaging/skill/SKILL.md $(call there,$(SKILL))
	if [ -e $(MPI_PROGRAM) ]; then install -m 755 $(MPI_PROGRAM) $(call there,$(bindir)/gputime-mpi); fi
	$(BUILD)/gputime --print-completion bash > $(call there,$(word 1,$(SHELLS)))
	$(BUILD)/gputime --print-completion zsh > $(call there,$(word 2,$(SHELLS)))
	$(BUILD)/gputime --print-completion fish > $(call there,$(word 3,$(SHELLS)))

# Folders that others share stay.
uninstall:
	for name in $(OLD_NAMES); do [ "$$(readlink $(call there,$(bindir))/$$name)" != gputime ] || \
	    rm -f $(call there,$(bindir))/$$name; done
	rm -f $(call there,$(INSTALLED) $(bindir)/gputime-mpi)
	rmdir $(call there,$(docdir) $(dir $(SKILL)) $(datadir)/gputime) 2>/dev/null || :

# ---- packages ----

# The sources as a tarball that builds without git: what git knows, or, in such a tarball, all that is there.
DIST_FILES = $(if $(wildcard .git),git ls-files -z,find . -path ./build -prune -o -type f -printf '%P\0')
dist:
	@mkdir -p build/dist
	@$(DIST_FILES) | LC_ALL=C sort -z | tar --null -T - --transform 's,^,gputime-$(VERSION)/,' --owner=0 --group=0 --numeric-owner \
	    --mtime="@$${SOURCE_DATE_EPOCH:-$$(stat -c %Y CHANGELOG.md)}" -cf - | gzip -9n > build/dist/gputime-$(VERSION).tar.gz
	@echo build/dist/gputime-$(VERSION).tar.gz

# Debian packages in build/deb, from the program as it is built. MAINTAINER="Name <mail>" is whose they are.
MULTIARCH = $(shell dpkg-architecture -qDEB_HOST_MULTIARCH)
deb:
	@./setup.sh build package
	@$(MAKE) --no-print-directory -s -j$(JOBS) all
	@rm -rf $(BUILD)/deb
	@$(MAKE) --no-print-directory -s deb-packages DESTDIR=$(abspath $(BUILD))/deb/stage prefix=/usr libdir=/usr/lib/$(MULTIARCH) OLD_NAMES=

deb-packages: install
	@MAINTAINER='$(MAINTAINER)' SERVER='$(patsubst -DGT_HAVE_MICROHTTPD=%,%,$(filter -DGT_HAVE_MICROHTTPD=%,$(CONFIG_DEFINES)))' packaging/deb/build.sh $(DESTDIR) $(DESTDIR)/../packages $(VERSION) $(SONAME)

# Packages, tarball and the steps of the GitHub Action; packages are installed and removed where the tests are root.
test-package:
	@./setup.sh build test package
	@$(MAKE) --no-print-directory -s -j$(JOBS) all
	$(PYTHON) -m pytest -q tests/package

clean:
	rm -rf build $(BUILD)
