# GNU make.  The builder's own: CC CFLAGS CPPFLAGS LDFLAGS LDLIBS PREFIX BINDIR
# MANDIR INCLUDEDIR LIBDIR DESTDIR PKG_CONFIG BUILD V WERROR.
# BUILD is release, debug, asan or fuzz.
BUILD      ?= release
PREFIX     ?= /usr/local
BINDIR     ?= $(PREFIX)/bin
MANDIR     ?= $(PREFIX)/share/man
INSTALL    ?= install
PKG_CONFIG ?= pkg-config
CFLAGS     ?= -O2 -g

O       := build/$(BUILD)
VERSION := $(shell cat VERSION)
PROGS   := dofextract dofparse
LIBSRC  := $(wildcard lib/*/*.c)
LIBOBJ  := $(LIBSRC:%.c=$(O)/%.o)
UNIT    := $(patsubst tests/unit/%.c,%,$(wildcard tests/unit/test_*.c))

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
.PHONY: all
all: $(PROGS:%=$(O)/%)

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

-include $(shell find $(O) -name '*.d' 2>/dev/null)
