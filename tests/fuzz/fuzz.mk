COMMA := ,
# Fuzz targets: `make fuzz T=name SECONDS=60`, and what of them the tests repeat (`make replay`,
# `make corrupt`). Part of the Makefile.

# Files in memory and pages from the heap instead of the system's (in_memory.c), and large blocks that stay (large_blocks.c),
# for every target.
WRAPPED   := $(patsubst %,-Wl$(COMMA)--wrap=%,open close fstat stat access pread read realpath \
    __realpath_chk sqlite3_open_v2 $(addprefix gt_mem_,pages_alloc pages_resize pages_free pages_discard pages_map_file alloc array uninitialised realloc room free))
IN_MEMORY := $(patsubst %,$(BUILD)/obj/tests/fuzz/%.o,in_memory in_memory_sqlite large_blocks made_store)
MUTATORS  := $(patsubst %,$(BUILD)/obj/tests/fuzz/%.o,mutator mutate_text mutate_proto mutate_sqlite)

$(BUILD)/replay/%: tests/fuzz/%.c $(BUILD)/obj/tests/fuzz/replay.o $(IN_MEMORY) $(IN_PROCESS)
	@mkdir -p $(@D)
	$(COMPILE) $(OWN_LDFLAGS) $(LDFLAGS) $(WRAPPED) -o $@ $< $(filter %.o %.a,$^) -lz $(LIBS)

$(BUILD)/corrupt: $(BUILD)/obj/tests/fuzz/corrupt.o $(MUTATORS) $(IN_PROCESS)
	$(LINK) -o $@ $^ -lz $(LIBS)

# What each fuzz target starts from: its seeds, which hold every input that ever failed, and files of tests/data.
seeds_of = $(wildcard tests/fuzz/seeds/$1/* tests/fuzz/corpus/$1) $(FUZZ_DATA_$1)
FUZZ_DATA_fuzz_torch_json := $(wildcard tests/data/*.json)
FUZZ_DATA_fuzz_nsys_csv   := $(wildcard tests/data/nsys-csv/*)
FUZZ_DATA_fuzz_nsys_rep   := $(wildcard tests/data/nsys/*.nsys-rep)
FUZZ_DATA_fuzz_pftrace    := $(wildcard tests/data/perfetto/*)
FUZZ_DATA_fuzz_nccl_inspector := $(wildcard tests/data/nccl/*)
FUZZ_DATA_fuzz_torch_fast := $(wildcard tests/fuzz/seeds/fuzz_torch_json/*.json)
FUZZ_DATA_fuzz_sqlite_pages := $(wildcard tests/fuzz/seeds/fuzz_nsys_sqlite/*.sqlite)
FUZZ_DATA_fuzz_zip        := $(wildcard tests/data/*.zip)
FUZZ_DATA_fuzz_xla        := $(wildcard tests/data/xla/*)
FUZZ_DATA_fuzz_ways       := $(wildcard $(addprefix tests/fuzz/seeds/fuzz_,torch_json/* nsys_sqlite/* nsys_rep/* xla/*)) \
    $(FUZZ_DATA_fuzz_torch_json) $(FUZZ_DATA_fuzz_nsys_csv)
FUZZ_DATA_fuzz_text_json      := $(wildcard tests/fuzz/seeds/fuzz_config/* tests/fuzz/seeds/fuzz_rules/*)
FUZZ_DATA_fuzz_text_rules     := $(wildcard tests/fuzz/seeds/fuzz_rules/*)
FUZZ_DATA_fuzz_text_config    := $(wildcard tests/fuzz/seeds/fuzz_config/*)
FUZZ_DATA_fuzz_text_limits    := $(wildcard tests/fuzz/seeds/fuzz_limits/*)
FUZZ_DATA_fuzz_text_options   := $(wildcard tests/fuzz/seeds/fuzz_options/*)
FUZZ_DATA_fuzz_text_sql       := $(wildcard tests/fuzz/seeds/fuzz_sql/*)
FUZZ_DATA_fuzz_text_names     := $(wildcard tests/fuzz/seeds/fuzz_names/*)
FUZZ_DATA_fuzz_text_csv       := $(wildcard tests/data/nsys-csv/mini*)
FUZZ_DATA_fuzz_decode_torch   := $(wildcard tests/fuzz/seeds/fuzz_torch_json/* tests/data/*.json)
FUZZ_DATA_fuzz_decode_csv     := $(wildcard tests/fuzz/seeds/fuzz_nsys_csv/* tests/data/nsys-csv/*)
FUZZ_DATA_fuzz_decode_rep     := $(wildcard tests/fuzz/seeds/fuzz_nsys_rep/*)
FUZZ_DATA_fuzz_decode_sqlite  := $(wildcard tests/fuzz/seeds/fuzz_nsys_sqlite/*)
FUZZ_DATA_fuzz_decode_pftrace := $(wildcard tests/fuzz/seeds/fuzz_pftrace/*)
FUZZ_DATA_fuzz_decode_xplane  := $(wildcard tests/fuzz/seeds/fuzz_xla/*)
FUZZ_DATA_fuzz_decode_xla_json := $(wildcard tests/fuzz/seeds/fuzz_xla/*)
FUZZ_DATA_fuzz_decode_rocpd   := $(wildcard tests/data/rocm/*.db tests/fuzz/seeds/fuzz_rocm/*.db tests/fuzz/seeds/fuzz_rocm/*.rpd)
FUZZ_DATA_fuzz_decode_rocprof_csv  := $(wildcard tests/data/rocm/*.csv tests/fuzz/seeds/fuzz_rocm/*.csv)
FUZZ_DATA_fuzz_decode_rocprof_json := $(wildcard tests/data/rocm/*.json tests/fuzz/seeds/fuzz_rocm/*.json)
FUZZ_DATA_fuzz_decode_inspector := $(wildcard tests/data/nccl/* tests/fuzz/seeds/fuzz_nccl_inspector/*)

# Words that a target's inputs are made of: those that the code looks for, and what is written by hand in *.dict.
FUZZ_CODE_torch   := $(wildcard lib/decode/torch/*.c)
FUZZ_CODE_csv     := $(wildcard lib/decode/csv/*.c)
FUZZ_CODE_rep     := $(wildcard lib/decode/nsys/*.c)
FUZZ_CODE_sqlite  := $(wildcard lib/decode/nsys/*.c lib/decode/sqlite/*.c)
FUZZ_CODE_pftrace := $(wildcard lib/decode/proto/*.c lib/decode/proto/*.def lib/export/perfetto_names.h)
FUZZ_CODE_xla     := $(wildcard lib/decode/xla/*.c)
FUZZ_CODE_rocpd   := $(wildcard lib/decode/rocm/*.c)
FUZZ_CODE_inspector := $(wildcard lib/decode/nccl/*.c)
FUZZ_CODE_names   := $(wildcard lib/label/*.c lib/label/rules/*.def lib/base/mangled.c)
FUZZ_CODE_limits  := $(wildcard lib/verdict/*.c) lib/measure/measures.def lib/measure/analysis_roles.c
FUZZ_CODE_options := cli/options.c cli/commands.c cli/value.c
FUZZ_CODE_sql     := lib/frame/frame_list.c $(wildcard lib/sql/*.c)
FUZZ_CODE_config  := $(wildcard lib/config*.c)
FUZZ_CODE_rules   := $(wildcard lib/label/rules*.c) lib/label/rules/categories.def
# The last part of a target's name says which, and which words by hand.
FUZZ_WORDS_json   := torch
FUZZ_WORDS_fast   := torch
FUZZ_WORDS_ways   := torch
FUZZ_WORDS_pages  := sqlite
FUZZ_WORDS_xplane := xla
FUZZ_WORDS_labels := names
FUZZ_WORDS_analyses := names
FUZZ_HAND_torch   := fuzz_torch_json.dict
FUZZ_HAND_inspector := fuzz_nccl_inspector.dict
FUZZ_HAND_csv     := fuzz_nsys_csv.dict
FUZZ_HAND_rep     := fuzz_nsys_rep.dict
FUZZ_HAND_sqlite  := fuzz_nsys_sqlite.dict
last_part  = $(lastword $(subst _, ,$1))
words_of   = $(or $(if $(findstring rocprof,$1),rocpd),$(if $(findstring xla,$1),xla),$(FUZZ_WORDS_$(call last_part,$1)),$(call last_part,$1))
by_hand_of = $(wildcard tests/fuzz/$(or $(FUZZ_HAND_$(call words_of,$1)),fuzz_$(call words_of,$1).dict))
build/fuzz/%.dict: tests/fuzz/make_dictionary.py $(call files_of,lib cli,*.c)
	@mkdir -p $(@D)
	@cat /dev/null $(call by_hand_of,$*) > $@
	@$(if $(FUZZ_CODE_$(call words_of,$*)),$(PYTHON) $< $(FUZZ_CODE_$(call words_of,$*)) >> $@)

# Small enough to be cut at every byte.
CUTS_fuzz_torch_json := tests/data/devices.json tests/data/hostile.json
CUTS_fuzz_nsys_csv   := tests/data/nsys-csv/mini_cuda_gpu_trace.csv tests/data/nsys-csv/mini_cuda_gpu_kern_sum.csv
CUTS_fuzz_nccl_inspector := tests/fuzz/seeds/fuzz_nccl_inspector/small.log
CUTS_fuzz_rules      := $(wildcard tests/fuzz/seeds/fuzz_rules/*)
CUTS_fuzz_limits     := tests/fuzz/seeds/fuzz_limits/check.txt
CUTS_fuzz_config     := tests/fuzz/seeds/fuzz_config/all.json
CUTS_fuzz_nsys_rep   := tests/fuzz/seeds/fuzz_nsys_rep/small.nsys-rep
CUTS_fuzz_pftrace    := tests/fuzz/seeds/fuzz_pftrace/pytorch.pftrace
CUTS_fuzz_zip        := tests/fuzz/seeds/fuzz_zip/stored.zip tests/fuzz/seeds/fuzz_zip/zip64.zip
CUTS_fuzz_xla        := tests/fuzz/seeds/fuzz_xla/small.xplane.pb
CUTS_fuzz_rocm       := tests/fuzz/seeds/fuzz_rocm/small_kernel_trace.csv tests/fuzz/seeds/fuzz_rocm/small_counter_collection.csv

replay:
	@$(MAKE) --no-print-directory -s -j$(JOBS) --output-sync=target $(REPLAYS:=.run)

unit-replay:
	@$(MAKE) --no-print-directory -s -j$(JOBS) --output-sync=target $(UNIT_TESTS:=.run) $(REPLAYS:=.run)

$(BUILD)/replay/%.run: $(BUILD)/replay/%
	@$< $(call seeds_of,$*)
	@$(if $(CUTS_$*),$< --cuts $(CUTS_$*))

# make corrupt N=10000: the samples of each kind of input damaged in so many ways, run by the program with sanitizers.
N ?= 1000
SEEDS := tests/fuzz/seeds
DAMAGED := json gz zst zip csv sums sqlite rep pftrace xplane rocpd rocprof nccl
DAMAGED_json   := $(wildcard $(SEEDS)/fuzz_torch_json/*.json) tests/data/devices.json
DAMAGED_gz     := $(wildcard $(SEEDS)/fuzz_torch_json/*.json.gz)
DAMAGED_zst    := $(wildcard $(SEEDS)/fuzz_torch_json/*.json.zst)
DAMAGED_zip    := $(wildcard $(SEEDS)/fuzz_zip/*.zip)
DAMAGED_nccl   := $(wildcard $(SEEDS)/fuzz_nccl_inspector/*) tests/data/nccl/node0-pid1000.log
DAMAGED_csv    := $(wildcard tests/data/nsys-csv/mini*_trace.csv)
DAMAGED_sums   := $(wildcard tests/data/nsys-csv/mini*_sum.csv)
DAMAGED_sqlite := $(wildcard $(SEEDS)/fuzz_nsys_sqlite/*.sqlite)
DAMAGED_pftrace := $(wildcard $(SEEDS)/fuzz_pftrace/*.pftrace)
DAMAGED_rep    := $(wildcard $(SEEDS)/fuzz_nsys_rep/*.nsys-rep) tests/data/nsys/graph_whole.nsys-rep
DAMAGED_xplane := $(wildcard $(SEEDS)/fuzz_xla/*) tests/data/xla/jax.xplane.pb
DAMAGED_rocpd  := $(wildcard $(SEEDS)/fuzz_rocm/*.db $(SEEDS)/fuzz_rocm/*.rpd)
DAMAGED_rocprof := $(wildcard $(SEEDS)/fuzz_rocm/*.json $(SEEDS)/fuzz_rocm/*.csv)
corrupt:
	@$(MAKE) --no-print-directory -s -j$(JOBS) BUILD=build/asan $(ASAN) build/asan/corrupt
	@$(MAKE) --no-print-directory -s -j$(JOBS) --output-sync=target $(DAMAGED:%=build/asan/damaged/%.run)

build/asan/damaged/%.run: build/asan/corrupt
	@mkdir -p $(@D)/$*
	@$< $(N) $(@D)/$* $(DAMAGED_$*)

# make fuzz T=decode_torch SECONDS=60: one target, or all of them one after the other. What a run finds to be new is kept in
# build/fuzz/corpus, and a line in build/fuzz/executions says how many executions there were; what fails is to become a seed.
# With PLAIN=1 there are no sanitizers, only the checks of the targets themselves: several times as many executions.
T       ?=
SECONDS ?= 30
CLANG   ?= clang
FUZZ_CHOSEN := $(if $(T),$(patsubst %,fuzz_%,$(T:fuzz_%=%)),$(FUZZ_NAMES))
PLAIN   ?=
FUZZ_AT := build/fuzz$(if $(PLAIN),-plain)
FUZZ_SANITIZE := $(if $(PLAIN),,$(COMMA)address$(COMMA)undefined -fno-sanitize-recover=all)
# Comparisons are not traced: that costs a third of the time, and dictionaries and mutators know the words that matter.
FUZZ := -fsanitize=fuzzer-no-link$(FUZZ_SANITIZE) -fno-sanitize-coverage=trace-cmp
EMPTY :=
joined = $(subst $(EMPTY) $(EMPTY),$(COMMA),$(strip $1))
fuzz:
	@./setup.sh build fuzz && ./setup.sh fuzz-runtime
	@$(MAKE) --no-print-directory -s -j$(JOBS) CC="$(CLANG)" BUILD=$(FUZZ_AT) HARDEN=0 CFLAGS="-O2 $(CHECKS) $(FUZZ)" \
	    LDFLAGS="$(FUZZ)" $(FUZZ_CHOSEN:%=$(FUZZ_AT)/%) $(FUZZ_CHOSEN:%=build/fuzz/%.dict)
	@set -e; $(foreach name,$(FUZZ_CHOSEN),echo "== $(name)"; \
	    $(PYTHON) tests/fuzz/bundle.py unpack tests/fuzz/corpus/$(name) build/fuzz/corpus/$(name); \
	    $(PYTHON) tests/fuzz/run.py $(FUZZ_AT) $(name) $(SECONDS) $(call joined,$(call seeds_of,$(name)));)

# BUILD is build/fuzz, or where a build with other flags is.
$(BUILD)/fuzz_%: tests/fuzz/fuzz_%.c $(IN_MEMORY) $(MUTATORS) $(BUILD)/libprogram.a $(BUILD)/libgputime.a
	$(COMPILE) -fsanitize=fuzzer $(WRAPPED) -o $@ $< $(filter %.o %.a,$^) -lz $(LIBS)

# What of build/fuzz/corpus reaches something that the rest does not, in tests/fuzz/corpus: small, for the tests.
fuzz-corpus:
	@set -e; $(foreach name,$(FUZZ_CHOSEN),$(PYTHON) tests/fuzz/bundle.py keep build/fuzz/$(name) build/fuzz/corpus/$(name) \
	    tests/fuzz/corpus/$(name);)
