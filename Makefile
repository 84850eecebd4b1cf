# gputime: `make demo` shows a real report, `make test` runs every test; both install what is missing first.
.DEFAULT_GOAL := all
MAKEFLAGS += --no-builtin-rules
.DELETE_ON_ERROR:

BUILD   ?= build
PREFIX  ?= /usr/local
DESTDIR ?=
# The Debian package python3-pytest belongs to the system's own Python.
PYTHON  ?= $(firstword $(wildcard /usr/bin/python3) python3)
JOBS    ?= $(shell nproc 2>/dev/null || echo 2)
CC      := $(if $(filter default,$(origin CC)),gcc,$(CC))
VERSION := $(shell sed -n 's/^.define GPUTIME_VERSION "\(.*\)"/\1/p' include/gputime.h)
SONAME  := libgputime.so.$(firstword $(subst ., ,$(VERSION)))

# config.mk is made by the set-up step: it installs what is missing, then notes which libraries there are.
ifneq ($(filter-out clean uninstall,$(or $(MAKECMDGOALS),all)),)
-include $(BUILD)/config.mk
endif

WARNINGS := -Wall -Wextra -Wshadow -Wconversion -Wstrict-prototypes -Wmissing-prototypes -Wvla
# Warnings stop the builds that the tests make, not those of a user with a newer compiler.
OPTIMISE ?= -O2 -g
CPPFLAGS := -Iinclude -Ilib -D_GNU_SOURCE $(CONFIG_DEFINES)
CFLAGS   := -std=c17 $(OPTIMISE) -fPIC -fvisibility=hidden -pthread $(WARNINGS) $(EXTRA_CFLAGS)
LDFLAGS  := $(EXTRA_LDFLAGS)
LDLIBS   := -pthread $(CONFIG_LIBS) -lsqlite3 -lz -lzstd -llz4 -lpcre2-8 -lm

# The page of --format html is made by npm from web/, once for all builds; WEB=0 leaves it out.
WEB         ?= 1
PAGE        := $(if $(filter-out 0,$(WEB)),build/web/head.html)
PAGE_CHOICE := $(BUILD)/obj/page.$(if $(PAGE),with,without)
PAGE_OBJECT := $(BUILD)/obj/lib/write/page.o

LIB_OBJECTS := $(patsubst %.c,$(BUILD)/obj/%.o,$(wildcard lib/*.c lib/*/*.c lib/*/*/*.c)) $(PAGE_OBJECT) $(BUILD)/obj/lib/definitions.text.o
CLI_OBJECTS := $(patsubst %.c,$(BUILD)/obj/%.o,$(wildcard cli/*.c))
UNIT_TESTS  := $(patsubst tests/unit/%.c,$(BUILD)/unit/%,$(filter-out $(SKIP:%=tests/unit/%.c),$(wildcard tests/unit/test_*.c)))
FUZZ_NAMES  := $(patsubst tests/fuzz/%.c,%,$(wildcard tests/fuzz/fuzz_*.c))
FUZZERS     := $(FUZZ_NAMES:%=build/fuzz/%)
REPLAYS     := $(FUZZ_NAMES:%=$(BUILD)/replay/%)
FUZZ_TOOLS  := $(patsubst %.c,$(BUILD)/obj/%.o,tests/fuzz/replay.c tests/fuzz/mutator.c tests/fuzz/corrupt.c)
SOURCES     := $(wildcard include/*.h lib/*.[ch] lib/*/*.[ch] lib/*/*/*.[ch] cli/*.[ch] docs/examples/*.c tests/unit/*.[ch] tests/fuzz/*.[ch] bench/*.[ch])

.PHONY: all demo test unit replay corrupt pytest browser setup-test setup-lint bench asan tsan fuzz lint format install uninstall clean

all: $(BUILD)/gputime $(BUILD)/libgputime.a $(BUILD)/libgputime.so

$(BUILD)/config.mk: setup.sh Makefile
	@./setup.sh build
	@mkdir -p $(@D)
	@if printf '#include <isa-l.h>\nint main(void){return 0;}' | $(CC) -x c - -lisal -o /dev/null 2>/dev/null; then \
	    printf 'CONFIG_DEFINES := -DGT_HAVE_ISAL=1\nCONFIG_LIBS := -lisal\n'; \
	else printf 'CONFIG_DEFINES :=\nCONFIG_LIBS :=\n'; fi > $@

$(BUILD)/obj/%.o: %.c $(BUILD)/config.mk
	@mkdir -p $(@D)
	$(CC) $(CPPFLAGS) $(CFLAGS) -MMD -MP -c -o $@ $<

# Of the two stamps only that of the last build exists, so that another WEB links again.
$(PAGE_CHOICE):
	@mkdir -p $(@D) && rm -f $(BUILD)/obj/page.* && touch $@

$(PAGE_OBJECT): lib/write/page.S $(PAGE) $(PAGE_CHOICE)
	@mkdir -p $(@D)
	$(CC) $(if $(PAGE),-DGT_PAGE_HEAD='"build/web/head.html"' -DGT_PAGE_TAIL='"build/web/tail.html"') -c -o $@ $<

# What every number means, as `gputime define` tells it.
$(BUILD)/obj/lib/definitions.text.o: lib/definitions.S docs/measures.md docs/words.md
	@mkdir -p $(@D)
	$(CC) -c -o $@ $<

WEB_SOURCES := $(wildcard web/*.* web/src/*.* web/src/*/*.*) docs/measures.md
build/web/head.html: build/web/packages $(WEB_SOURCES)
	node web/build.mjs build/web

# The packages that the lock file names; the stamp stands outside web/ so that `make clean` has them checked again.
build/web/packages: web/package.json web/package-lock.json
	@mkdir -p $(@D)
	@./setup.sh web && cd web && npm ci --loglevel=error --ignore-scripts --no-audit --no-fund >/dev/null || { \
	    echo "the packages of the page could not be installed; 'make WEB=0' builds without it" >&2; exit 1; }
	@touch $@

# A cached trace is as good as the code that decoded it, so that code's checksum is part of the cache's key.
DECODING := $(sort $(wildcard lib/base/*.[ch] lib/decode/*.[ch] lib/decode/*/*.[ch] lib/events/*))
$(BUILD)/obj/lib/events/cache_key.o: $(DECODING)
$(BUILD)/obj/lib/events/cache_key.o: CPPFLAGS += -DGT_DECODING='"$(firstword $(shell cat $(DECODING) | cksum))"'

$(BUILD)/libgputime.a: $(LIB_OBJECTS)
	rm -f $@ && ar rcs $@ $^

$(BUILD)/libgputime.so: $(LIB_OBJECTS)
	$(CC) -shared -Wl,-soname,$(SONAME) $(CFLAGS) $(LDFLAGS) -o $@ $^ $(LDLIBS)

$(BUILD)/gputime: $(CLI_OBJECTS) $(BUILD)/libgputime.a
	$(CC) $(CFLAGS) $(LDFLAGS) -o $@ $^ $(LDLIBS)

$(BUILD)/unit/%: tests/unit/%.c $(BUILD)/libgputime.a
	@mkdir -p $(@D)
	$(CC) $(CPPFLAGS) $(CFLAGS) $(LDFLAGS) -MMD -MP -o $@ $< $(filter %/libprogram.a,$^) $(BUILD)/libgputime.a -lcmocka $(LDLIBS)

# Calls that these tests make fail, one after the other.
TORTURED := malloc calloc realloc free strdup asprintf mmap mremap munmap read pread write pwrite fsync rename renameat pthread_create \
    gt_arena_alloc gt_arena_array gt_arena_room gt_arena_copy
$(filter $(BUILD)/unit/test_torture%,$(UNIT_TESTS)): LDFLAGS += $(TORTURED:%=-Wl,--wrap=%)
$(BUILD)/unit/test_torture_commands: $(BUILD)/libprogram.a

# The program for tests that run it, or parts of it, inside of themselves: its main function has another name.
$(BUILD)/libprogram.a: $(CLI_OBJECTS)
	objcopy --redefine-sym main=gputime_main $(BUILD)/obj/cli/main.o $(BUILD)/main.o
	rm -f $@ && ar rcs $@ $(filter-out %/cli/main.o,$^) $(BUILD)/main.o

IN_PROCESS := $(BUILD)/libprogram.a $(BUILD)/libgputime.a

$(BUILD)/replay/%: tests/fuzz/%.c $(BUILD)/obj/tests/fuzz/replay.o $(IN_PROCESS)
	@mkdir -p $(@D)
	$(CC) $(CPPFLAGS) $(CFLAGS) $(LDFLAGS) -MMD -MP -o $@ $< $(filter %.o %.a,$^) $(LDLIBS)

$(BUILD)/corrupt: $(BUILD)/obj/tests/fuzz/corrupt.o $(BUILD)/obj/tests/fuzz/mutator.o $(IN_PROCESS)
	$(CC) $(CFLAGS) $(LDFLAGS) -o $@ $^ $(LDLIBS)

-include $(LIB_OBJECTS:.o=.d) $(CLI_OBJECTS:.o=.d) $(FUZZ_TOOLS:.o=.d) $(UNIT_TESTS:=.d) $(REPLAYS:=.d) $(FUZZERS:=.d)

demo:
	@$(MAKE) --no-print-directory -s -j$(JOBS) all
	$(BUILD)/gputime tests/data/torch/llama_train_compiled.json.gz

# ---- tests ----

test: setup-test
	@$(MAKE) --no-print-directory -s -j$(JOBS) all asan
	@$(MAKE) --no-print-directory -s unit
	@$(MAKE) --no-print-directory -s unit replay BUILD=build/asan $(ASAN)
	@$(MAKE) --no-print-directory -s corrupt N=250
	@$(MAKE) --no-print-directory -s pytest
	@$(MAKE) --no-print-directory -s browser

setup-test:
	@./setup.sh build test

unit:
	@$(MAKE) --no-print-directory -s -j$(JOBS) $(UNIT_TESTS)
	@set -e; for t in $(UNIT_TESTS); do echo "== $$t"; $$t; done

pytest:
	$(PYTHON) -m pytest -q tests/cli

# Pages in a browser; pictures of them in build/browser.
browser: $(if $(PAGE),all)
	$(if $(PAGE),cd web && node node_modules/typescript/bin/tsc)
	$(if $(PAGE),node --test $(wildcard tests/browser/*.test.mjs))

SANITIZE := -Werror -fsanitize=address,undefined -fno-sanitize-recover=all -fno-omit-frame-pointer
ASAN := OPTIMISE="-O1 -g" EXTRA_CFLAGS="$(SANITIZE)" EXTRA_LDFLAGS="$(SANITIZE)"
TSAN := OPTIMISE="-O1 -g" EXTRA_CFLAGS="-fsanitize=thread" EXTRA_LDFLAGS="-fsanitize=thread"

asan: $(PAGE)
	@$(MAKE) --no-print-directory -s -j$(JOBS) BUILD=build/asan $(ASAN) build/asan/gputime

# The torture tests make allocations fail, which ThreadSanitizer's own runtime does not survive.
tsan: $(PAGE)
	@$(MAKE) --no-print-directory -s -j$(JOBS) BUILD=build/tsan $(TSAN) build/tsan/gputime
	@$(MAKE) --no-print-directory -s unit BUILD=build/tsan SKIP="test_torture%" $(TSAN)

# What each fuzz target starts from: its seeds, which hold every input that ever failed, and files of tests/data.
seeds_of = $(wildcard tests/fuzz/seeds/$1/*) $(FUZZ_DATA_$1)
FUZZ_DATA_fuzz_torch_json := $(wildcard tests/data/*.json)
FUZZ_DATA_fuzz_nsys_csv   := $(wildcard tests/data/nsys-csv/*)
FUZZ_DATA_fuzz_nsys_rep   := $(wildcard tests/data/nsys/*.nsys-rep)
FUZZ_DATA_fuzz_torch_fast := $(wildcard tests/fuzz/seeds/fuzz_torch_json/*.json)
FUZZ_DATA_fuzz_sqlite_pages := $(wildcard tests/fuzz/seeds/fuzz_nsys_sqlite/*.sqlite)
FUZZ_DATA_fuzz_ways       := $(wildcard $(addprefix tests/fuzz/seeds/fuzz_,torch_json/* nsys_sqlite/* nsys_rep/*)) \
    $(FUZZ_DATA_fuzz_torch_json) $(FUZZ_DATA_fuzz_nsys_csv)

# Words that a target's inputs are made of; some have them in common.
dictionary_of = $(wildcard tests/fuzz/$(or $(FUZZ_WORDS_$1),$1).dict)
FUZZ_WORDS_fuzz_torch_fast   := fuzz_torch_json
FUZZ_WORDS_fuzz_ways         := fuzz_torch_json
FUZZ_WORDS_fuzz_sqlite_pages := fuzz_nsys_sqlite

# Small enough to be cut at every byte.
CUTS_fuzz_torch_json := tests/data/devices.json tests/data/hostile.json
CUTS_fuzz_nsys_csv   := tests/data/nsys-csv/mini_cuda_gpu_trace.csv tests/data/nsys-csv/mini_cuda_gpu_kern_sum.csv
CUTS_fuzz_rules      := $(wildcard tests/fuzz/seeds/fuzz_rules/*)
CUTS_fuzz_limits     := tests/fuzz/seeds/fuzz_limits/check.txt
CUTS_fuzz_config     := tests/fuzz/seeds/fuzz_config/all.json
CUTS_fuzz_nsys_rep   := tests/fuzz/seeds/fuzz_nsys_rep/small.nsys-rep

replay:
	@$(MAKE) --no-print-directory -s -j$(JOBS) $(REPLAYS)
	@set -e; $(foreach name,$(FUZZ_NAMES),$(BUILD)/replay/$(name) $(call seeds_of,$(name)); \
	    $(if $(CUTS_$(name)),$(BUILD)/replay/$(name) --cuts $(CUTS_$(name));))

# make corrupt N=10000: the samples of each kind of input damaged in so many ways, run by the program with sanitizers.
N ?= 1000
SEEDS := tests/fuzz/seeds
DAMAGED := json gz zst csv sums sqlite rep
DAMAGED_json   := $(wildcard $(SEEDS)/fuzz_torch_json/*.json) tests/data/devices.json
DAMAGED_gz     := $(wildcard $(SEEDS)/fuzz_torch_json/*.json.gz)
DAMAGED_zst    := $(wildcard $(SEEDS)/fuzz_torch_json/*.json.zst)
DAMAGED_csv    := $(wildcard tests/data/nsys-csv/mini*_trace.csv)
DAMAGED_sums   := $(wildcard tests/data/nsys-csv/mini*_sum.csv)
DAMAGED_sqlite := $(wildcard $(SEEDS)/fuzz_nsys_sqlite/*.sqlite)
DAMAGED_rep    := $(wildcard $(SEEDS)/fuzz_nsys_rep/*.nsys-rep) tests/data/nsys/graph_whole.nsys-rep
corrupt: $(PAGE)
	@$(MAKE) --no-print-directory -s -j$(JOBS) BUILD=build/asan $(ASAN) build/asan/corrupt
	@mkdir -p build/asan/damaged
	@set -e; $(foreach kind,$(DAMAGED),build/asan/corrupt $(N) build/asan/damaged $(DAMAGED_$(kind));)

# make fuzz T=60: each fuzzer runs that many seconds. What it finds is kept in build/fuzz/corpus; what fails is to become
# a seed.
T ?= 30
FUZZ := -fsanitize=fuzzer-no-link,address,undefined -fno-sanitize-recover=all
COMMA := ,
EMPTY :=
joined = $(subst $(EMPTY) $(EMPTY),$(COMMA),$(strip $1))
fuzz:
	@./setup.sh build fuzz && ./setup.sh fuzz-runtime
	@$(MAKE) --no-print-directory -s -j$(JOBS) CC=clang BUILD=build/fuzz OPTIMISE="-O1 -g" EXTRA_CFLAGS="$(FUZZ)" \
	    EXTRA_LDFLAGS="$(FUZZ)" $(FUZZERS)
	@set -e; $(foreach name,$(FUZZ_NAMES),echo "== $(name)"; mkdir -p build/fuzz/corpus/$(name); \
	    build/fuzz/$(name) -max_total_time=$(T) -timeout=10 -rss_limit_mb=2048 -max_len=65536 -print_final_stats=1 \
	    -verbosity=0 -artifact_prefix=build/fuzz/ $(addprefix -dict=,$(call dictionary_of,$(name))) \
	    -malloc_limit_mb=4096 -seed_inputs=$(call joined,$(call seeds_of,$(name))) \
	    build/fuzz/corpus/$(name);)

build/fuzz/fuzz_%: tests/fuzz/fuzz_%.c build/fuzz/obj/tests/fuzz/mutator.o build/fuzz/libprogram.a build/fuzz/libgputime.a
	$(CC) $(CPPFLAGS) $(CFLAGS) -fsanitize=fuzzer,address,undefined -MMD -MP -o $@ $< $(filter %.o %.a,$^) $(LDLIBS)

PRETTIER := node web/node_modules/prettier/bin/prettier.cjs --config web/.prettierrc.json --log-level warn
WEB_CODE := $(wildcard web/*.mjs web/src/*.* web/src/*/*.* tests/browser/*.mjs)

lint: setup-lint build/web/packages
	clang-format --dry-run -Werror $(SOURCES)
	$(PRETTIER) --check $(WEB_CODE)
	cd web && node node_modules/typescript/bin/tsc
	cppcheck -q --std=c11 --enable=warning,performance,portability --inline-suppr --error-exitcode=1 -Iinclude -Ilib \
	    -j$(JOBS) lib cli
	printf '%s\n' $(filter %.c,$(filter lib/% cli/%,$(SOURCES))) | xargs -P$(JOBS) -n8 sh -c 'for file; do \
	    gcc -fanalyzer -Werror -O1 -std=c17 $(CPPFLAGS) -DGT_DECODING=\"\" -c -o /dev/null "$$file" || exit 255; done' gcc
	printf '%s\n' $(filter %.c,$(filter lib/% cli/%,$(SOURCES))) | xargs -P$(JOBS) -n8 \
	    sh -c 'clang-tidy --quiet --warnings-as-errors="*" "$$@" -- -std=c17 $(CPPFLAGS)' tidy

setup-lint:
	@./setup.sh build lint

format: build/web/packages
	clang-format -i $(SOURCES)
	$(PRETTIER) --write $(WEB_CODE)

bench: all
	@./setup.sh build bench
	$(PYTHON) bench/run.py $(if $(QUICK),--quick)

# ---- installing ----

BINDIR := $(DESTDIR)$(PREFIX)/bin
LIBDIR := $(DESTDIR)$(PREFIX)/lib
SHARE  := $(DESTDIR)$(PREFIX)/share
INSTALLED := $(BINDIR)/gputime $(LIBDIR)/libgputime.a $(LIBDIR)/libgputime.so $(LIBDIR)/$(SONAME) \
    $(LIBDIR)/pkgconfig/gputime.pc $(DESTDIR)$(PREFIX)/include/gputime.h $(SHARE)/man/man1/gputime.1 \
    $(SHARE)/bash-completion/completions/gputime $(SHARE)/zsh/site-functions/_gputime \
    $(SHARE)/fish/vendor_completions.d/gputime.fish

install: all
	install -d $(sort $(dir $(INSTALLED)))
	install -m 755 $(BUILD)/gputime $(BINDIR)/gputime
	install -m 644 $(BUILD)/libgputime.a $(LIBDIR)/libgputime.a
	install -m 755 $(BUILD)/libgputime.so $(LIBDIR)/$(SONAME)
	ln -sf $(SONAME) $(LIBDIR)/libgputime.so
	install -m 644 include/gputime.h $(DESTDIR)$(PREFIX)/include/gputime.h
	printf '%s\n' 'prefix=$(PREFIX)' 'libdir=$${prefix}/lib' 'includedir=$${prefix}/include' '' 'Name: gputime' \
	    'Description: where the GPU time went, from GPU traces' 'Version: $(VERSION)' 'Cflags: -I$${includedir}' \
	    'Libs: -L$${libdir} -lgputime' 'Libs.private: $(LDLIBS)' > $(LIBDIR)/pkgconfig/gputime.pc
	install -m 644 docs/gputime.1 $(SHARE)/man/man1/gputime.1
	$(BUILD)/gputime --print-completion bash > $(SHARE)/bash-completion/completions/gputime
	$(BUILD)/gputime --print-completion zsh > $(SHARE)/zsh/site-functions/_gputime
	$(BUILD)/gputime --print-completion fish > $(SHARE)/fish/vendor_completions.d/gputime.fish

uninstall:
	rm -f $(INSTALLED)

clean:
	rm -rf build $(BUILD)
