# gputime: `make demo` shows a real report, `make test` runs every test; both install what is missing first.
.DEFAULT_GOAL := all
MAKEFLAGS += --no-builtin-rules
.DELETE_ON_ERROR:

BUILD  ?= build
PREFIX ?= /usr/local
CC     := $(if $(filter default,$(origin CC)),gcc,$(CC))
PYTHON ?= python3
VERSION := $(shell sed -n 's/^\#define GPUTIME_VERSION "\(.*\)"/\1/p' include/gputime.h)
SOVERSION := $(firstword $(subst ., ,$(VERSION)))

WARNINGS := -Wall -Wextra -Wshadow -Wconversion -Wstrict-prototypes -Wmissing-prototypes -Wvla -Werror
OPTIMISE ?= -O2 -g
# ISA-L inflates 2.7x as fast as zlib; where it cannot be had (32-bit and rare machines) zlib does the same work.
HAVE_ISAL := $(shell printf '\#include <isa-l.h>\nint main(void){return 0;}' | $(CC) -x c - -lisal -o /dev/null 2>/dev/null && echo 1)
DEFINES  := -D_GNU_SOURCE $(if $(HAVE_ISAL),-DGT_HAVE_ISAL=1)
CPPFLAGS := -Iinclude -Ilib $(DEFINES) $(EXTRA_CPPFLAGS)
CFLAGS   := -std=c17 $(OPTIMISE) -fPIC -fvisibility=hidden -fno-strict-aliasing -pthread $(WARNINGS) $(EXTRA_CFLAGS)
LDLIBS   := -pthread $(if $(HAVE_ISAL),-lisal) -lz -lzstd -lpcre2-8 -lxxhash -lm
LDFLAGS  := $(EXTRA_LDFLAGS)

LIB_SOURCES  := $(wildcard lib/*.c lib/*/*.c)
CLI_SOURCES  := $(wildcard cli/*.c)
UNIT_SOURCES := $(wildcard tests/unit/test_*.c)
LIB_OBJECTS  := $(LIB_SOURCES:%.c=$(BUILD)/obj/%.o)
CLI_OBJECTS  := $(CLI_SOURCES:%.c=$(BUILD)/obj/%.o)
UNIT_TESTS   := $(UNIT_SOURCES:tests/unit/%.c=$(BUILD)/unit/%)

.PHONY: all setup demo test unit pytest check-format bench asan tsan fuzz lint install uninstall clean

all: $(BUILD)/gputime $(BUILD)/libgputime.a $(BUILD)/libgputime.so

$(BUILD)/obj/%.o: %.c | setup
	@mkdir -p $(@D)
	$(CC) $(CPPFLAGS) $(CFLAGS) -MMD -MP -c -o $@ $<

$(BUILD)/libgputime.a: $(LIB_OBJECTS)
	rm -f $@ && ar rcs $@ $^

$(BUILD)/libgputime.so: $(LIB_OBJECTS)
	$(CC) -shared -Wl,-soname,libgputime.so.$(SOVERSION) $(CFLAGS) $(LDFLAGS) -o $@ $^ $(LDLIBS)

$(BUILD)/gputime: $(CLI_OBJECTS) $(BUILD)/libgputime.a
	$(CC) $(CFLAGS) $(LDFLAGS) -o $@ $^ $(LDLIBS)

$(BUILD)/unit/%: tests/unit/%.c $(BUILD)/libgputime.a
	@mkdir -p $(@D)
	$(CC) $(CPPFLAGS) $(CFLAGS) $(LDFLAGS) -MMD -MP -o $@ $< $(BUILD)/libgputime.a -lcmocka $(LDLIBS)

-include $(LIB_OBJECTS:.o=.d) $(CLI_OBJECTS:.o=.d) $(UNIT_TESTS:=.d)
