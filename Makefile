# GNU make.  The builder's own: CC CFLAGS CPPFLAGS LDFLAGS LDLIBS PREFIX BINDIR
# MANDIR INCLUDEDIR LIBDIR DESTDIR PKG_CONFIG BUILD V WERROR.
# BUILD is release, debug, asan or fuzz.
BUILD      ?= release
PREFIX     ?= /usr/local
BINDIR     ?= $(PREFIX)/bin
MANDIR     ?= $(PREFIX)/share/man
LIBDIR     ?= $(PREFIX)/lib
INCLUDEDIR ?= $(PREFIX)/include
INSTALL    ?= install
PKG_CONFIG ?= pkg-config
CFLAGS     ?= -O2 -g

O       ?= build/$(BUILD)
VERSION := $(shell cat VERSION)
PROGS   := dofextract dofparse
LIBSRC  := $(wildcard lib/*/*.c)
LIBOBJ  := $(LIBSRC:%.c=$(O)/%.o)
UNIT    := $(patsubst tests/unit/%.c,%,$(wildcard tests/unit/test_*.c))
FUZZ    := $(patsubst tests/fuzz/%.c,%,$(wildcard tests/fuzz/fuzz_*.c))
BENCH   := $(patsubst tests/bench/%.c,%,$(wildcard tests/bench/*.c))
MAN1    := $(PROGS:%=$(O)/man/%.1)
MAN5    := $(O)/man/dofrecords.5
HEADERS := base elf usdt record proc sandbox extract parse
FUZZ_SECONDS ?= 60

# Flags that the code needs stay out of CFLAGS, which belongs to the builder.
DP_CPPFLAGS := -D_GNU_SOURCE -D_FILE_OFFSET_BITS=64 \
	-DDP_VERSION='"$(VERSION)"' -Ilib -Ischema
DP_CFLAGS := -std=gnu11 -pthread -fvisibility=hidden -fno-common \
	-Wall -Wextra -Wshadow -Wstrict-prototypes -Wmissing-prototypes \
	-Wpointer-arith -Wcast-align -Wcast-qual -Wwrite-strings -Wvla \
	-Wformat=2 -Wimplicit-fallthrough -Wundef
DP_LDLIBS := -lelf -llzma -lnettle -lseccomp -lcap -ljansson
$(O)/lib/%.o: DP_CFLAGS += -Wconversion -Wsign-conversion
ifeq ($(WERROR),1)
DP_CFLAGS += -Werror
endif
ifeq ($(BUILD),debug)
CFLAGS := -O0 -g3
else ifeq ($(BUILD),asan)
CFLAGS := -O1 -g -fno-omit-frame-pointer
DP_SAN := -fsanitize=address,undefined -fno-sanitize-recover=all
else ifeq ($(BUILD),fuzz)
CC     := clang
CFLAGS := -O1 -g
DP_SAN := -fsanitize=address,undefined,fuzzer-no-link
endif

ifeq ($(V),1)
Q :=
else
Q := @
say = @printf '  %-5s %s\n' $(1) $@;
endif

.DELETE_ON_ERROR:
.SECONDARY:
.PHONY: all demo check check-now bench fuzz fuzz-build replay lint format \
	install uninstall clean tests valgrind man
all: $(PROGS:%=$(O)/%) man
man: $(MAN1) $(MAN5)

$(O)/%.o: %.c
	@mkdir -p $(@D)
	$(call say,CC)
	$(Q)$(CC) $(DP_CPPFLAGS) $(CPPFLAGS) $(DP_CFLAGS) $(DP_SAN) $(CFLAGS) \
		-MMD -MP -c -o $@ $<

$(O)/libdofpipe.a: $(LIBOBJ)
	$(call say,AR)
	$(Q)rm -f $@ && $(AR) rcs $@ $^

COMMONOBJ := $(patsubst %.c,$(O)/%.o,$(wildcard tools/common/*.c))
define program
$(O)/$(1): $$(patsubst %.c,$(O)/%.o,$$(wildcard tools/$(1)/*.c)) \
		$(COMMONOBJ) $(O)/libdofpipe.a
	$$(call say,LINK)
	$$(Q)$$(CC) $$(DP_SAN) $$(CFLAGS) -pthread $$(LDFLAGS) -o $$@ $$^ \
		$$(DP_LDLIBS) $$(LDLIBS)
endef
$(foreach p,$(PROGS),$(eval $(call program,$(p))))

$(O)/tests/unit/test_%: $(O)/tests/unit/test_%.o $(O)/libdofpipe.a
	$(call say,LINK)
	$(Q)$(CC) $(DP_SAN) $(CFLAGS) -pthread $(LDFLAGS) -o $@ $^ \
		$(shell $(PKG_CONFIG) --libs check) $(DP_LDLIBS) $(LDLIBS)

# Fixtures: text in tests/data, assembled by mkfix, which shares no code
# with the library.
$(O)/mkfix: $(patsubst %.c,$(O)/%.o,$(wildcard tests/support/mk*.c))
	$(call say,LINK)
	$(Q)$(CC) $(DP_SAN) $(CFLAGS) $(LDFLAGS) -o $@ $^ $(LDLIBS)

$(O)/fixtures/.done: $(O)/mkfix $(wildcard tests/data/*.txt)
	$(call say,MAKE)
	$(Q)rm -rf $(@D) && mkdir -p $(@D) && $(O)/mkfix --all tests/data $(@D)
	@touch $@

$(O)/recdoc: $(O)/tests/support/recdoc.o
	$(Q)$(CC) $(DP_SAN) $(CFLAGS) $(LDFLAGS) -o $@ $^ $(LDLIBS)

$(O)/man/dofrecords.5: schema/dofrecords.5.in $(O)/recdoc
	@mkdir -p $(@D)
	$(call say,MAN)
	$(Q)$(O)/recdoc <$< >$@

define manual
$(O)/man/$(1).1: tools/$(1)/$(1).1
	@mkdir -p $$(@D)
	$$(Q)cp $$< $$@
endef
$(foreach p,$(PROGS),$(eval $(call manual,$(p))))

$(O)/tests/bench/%: $(O)/tests/bench/%.o $(O)/libdofpipe.a
	$(call say,LINK)
	$(Q)$(CC) $(CFLAGS) -pthread $(LDFLAGS) -o $@ $^ $(DP_LDLIBS) $(LDLIBS)

$(O)/tests/fuzz/%.replay: $(O)/tests/fuzz/%.o $(O)/tests/fuzz/replay.o \
		$(O)/libdofpipe.a
	$(Q)$(CC) $(DP_SAN) $(CFLAGS) -pthread $(LDFLAGS) -o $@ $^ \
		$(DP_LDLIBS) $(LDLIBS)

# Two commands set up everything on a fresh Debian 12; the rest supposes it.
demo:
	@tests/support/deps.sh build
	@$(MAKE) --no-print-directory all
	@BIN=$(O) tests/support/demo.sh

check:
	@tests/support/deps.sh check
	@$(MAKE) --no-print-directory check-now

tests: all $(UNIT:%=$(O)/tests/unit/%) $(FUZZ:%=$(O)/tests/fuzz/%.replay) \
	$(O)/fixtures/.done

check-now: tests
	@BIN=$(O) tests/run.sh

valgrind: tests
	@BIN=$(O) tests/support/valgrind.sh

bench:
	@tests/support/deps.sh bench
	@$(MAKE) --no-print-directory all $(BENCH:%=$(O)/tests/bench/%)
	@BIN=$(O) tests/bench/run

# Fuzzing needs clang; `make replay` runs the same targets with any compiler.
build/fuzz/tests/fuzz/%.fuzz: build/fuzz/tests/fuzz/%.o build/fuzz/libdofpipe.a
	$(Q)clang -fsanitize=address,undefined,fuzzer -pthread -o $@ $^ \
		$(DP_LDLIBS)
fuzz-build: $(FUZZ:%=build/fuzz/tests/fuzz/%.fuzz)
fuzz: all $(O)/fixtures/.done
	@$(MAKE) --no-print-directory BUILD=fuzz fuzz-build
	@FIXTURES=$(O)/fixtures tests/fuzz/run.sh $(FUZZ_SECONDS)
replay: $(FUZZ:%=$(O)/tests/fuzz/%.replay) $(O)/fixtures/.done
	@for f in $(FUZZ); do \
		$(O)/tests/fuzz/$$f.replay $(O)/fixtures || exit 1; done

compile_commands.json: Makefile
	$(MAKE) clean && bear --output $@ -- $(MAKE) tests

SOURCES = $(wildcard lib/*/*.[ch] tools/*/*.[ch] tests/*/*.[ch])
format:
	clang-format -i $(SOURCES)
lint:
	clang-format --dry-run -Werror $(SOURCES)
	clang-tidy --quiet $(LIBSRC) $(wildcard tools/*/*.c) -- \
		$(DP_CPPFLAGS) -std=gnu11

install: all
	$(INSTALL) -d $(DESTDIR)$(BINDIR) $(DESTDIR)$(MANDIR)/man1 \
		$(DESTDIR)$(MANDIR)/man5
	$(INSTALL) -m 755 $(PROGS:%=$(O)/%) $(DESTDIR)$(BINDIR)
	$(INSTALL) -m 644 $(MAN1) $(DESTDIR)$(MANDIR)/man1
	$(INSTALL) -m 644 $(MAN5) $(DESTDIR)$(MANDIR)/man5
	$(INSTALL) -d $(DESTDIR)$(LIBDIR)
	$(INSTALL) -m 644 $(O)/libdofpipe.a $(DESTDIR)$(LIBDIR)
	$(INSTALL) -d $(HEADERS:%=$(DESTDIR)$(INCLUDEDIR)/dofpipe/%)
	for d in $(HEADERS); do $(INSTALL) -m 644 lib/$$d/*.h \
		$(DESTDIR)$(INCLUDEDIR)/dofpipe/$$d || exit 1; done
	$(INSTALL) -m 644 schema/*.def $(DESTDIR)$(INCLUDEDIR)/dofpipe
uninstall:
	rm -f $(PROGS:%=$(DESTDIR)$(BINDIR)/%) \
		$(PROGS:%=$(DESTDIR)$(MANDIR)/man1/%.1) \
		$(DESTDIR)$(MANDIR)/man5/dofrecords.5 \
		$(DESTDIR)$(LIBDIR)/libdofpipe.a
	rm -rf $(DESTDIR)$(INCLUDEDIR)/dofpipe
clean:
	rm -rf build compile_commands.json

-include $(shell find $(O) -name '*.d' 2>/dev/null)
