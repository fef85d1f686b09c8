# sonde: `make` builds build/sonde and build/libsonde.a; `make help` lists the
# rest.  A new source file needs no edit here: everything goes by wildcard.

# All cores, unless the caller says otherwise.
ifeq ($(filter -j%,$(MAKEFLAGS)),)
MAKEFLAGS += -j$(shell nproc)
endif

B        ?= build
CC       ?= cc
PREFIX   ?= /usr/local
LIBDIR   ?= $(PREFIX)/lib
VERSION  := 0.1.0
PKG_CONFIG ?= pkg-config
# Of the shared library, in which only what sonde.h declares is visible: another
# number where programs must be built anew.
SO       := 0
SHARED   := -fPIC -fvisibility=hidden
OBJCOPY  ?= objcopy
# What debuggers need takes a fifth of the build: OPT='-O2 -g' has it, and so
# have the sanitizers, whose reports name lines.
OPT      ?= -O2$(if $(SAN), -g)
WARN     := -Wall -Wextra -Wpedantic -Wshadow -Wstrict-prototypes \
            -Wmissing-prototypes -Wconversion -Wformat-security
# Against what a hostile file may find to overwrite: programs that lie anywhere
# (PIE), tables that are read-only once it runs, stacks and library calls that
# are checked.  The sanitizers check more; what is not optimised cannot be.
HARDEN   := -fstack-protector-strong
FORTIFY   = $(if $(SAN)$(findstring -O0,$(OPT)),,-U_FORTIFY_SOURCE -D_FORTIFY_SOURCE=2)
PIE      := -fPIE
CFLAGS   += -std=c11 $(OPT) $(WARN) $(HARDEN) $(FORTIFY) $(PIE)
LDFLAGS  += -Wl,-z,relro,-z,now
CPPFLAGS += -D_GNU_SOURCE -Isrc -Iinclude -DSONDE_VERSION='"$(VERSION)"'
ifdef SAN
B        := $(B)/san
CFLAGS   += -fsanitize=$(SAN) -fno-sanitize-recover=all -fno-omit-frame-pointer
LDFLAGS  += -fsanitize=$(SAN)
endif

# Where the libraries are is what pkg-config says, asked once, when they are
# there.  Static where the archive is there, so that one binary can be carried,
# unless a distribution wants none of it (ARCHIVES=).
LIBRARIES := jansson libzstd
ARCHIVES ?= yes
asked     = $(eval $(1) := $$(shell $(PKG_CONFIG) $(2) $(LIBRARIES)))$($(1))
DEP_CPP   = $(call asked,DEP_CPP,--cflags)
DEP_DIRS  = $(call asked,DEP_DIRS,--libs-only-L)
archive   = $(wildcard $(patsubst -L%,%/lib$(1).a,$(DEP_DIRS)) $(shell $(CC) -print-file-name=lib$(1).a))
static    = $(if $(and $(ARCHIVES),$(call archive,$(1))),-l:lib$(1).a,-l$(1))
CPPFLAGS += $(DEP_CPP)
LDLIBS   += $(DEP_DIRS) $(call static,jansson) $(call static,zstd) -lm -ldl -pthread

LIB_SRC  := $(filter-out src/cli/%,$(sort $(wildcard src/*.c src/*/*.c src/*/*/*.c src/*/*/*/*.c)))
CLI_SRC  := $(sort $(wildcard src/cli/*.c src/cli/*/*.c))
# A GPU that is made up comes first, for it is none of those in the table.
PROFILE_SRC := profiles/quick.json \
               $(sort $(filter-out profiles/quick.json,$(wildcard profiles/*.json))) \
               $(sort $(wildcard profiles/hosts/*.json))
LIB_OBJ  := $(LIB_SRC:%.c=$(B)/%.o) $(B)/profiles.o
CLI_OBJ  := $(CLI_SRC:%.c=$(B)/%.o)
TEST_SRC := $(sort $(wildcard tests/unit/*.c tests/truth/*.c tests/replay/*.c \
              tests/ptx/*.c tests/driver/*.c tests/fuzz/*.c))
TEST_OBJ := $(TEST_SRC:%.c=$(B)/%.o)

.PHONY: all run check check-quick check-all check-gpu bench install uninstall clean help deps goldens same disturb calibrate truth figures closure falsify
all: $(B)/sonde $(B)/libsonde.a $(B)/libsonde.so

# The libraries that the build needs, and those of the tests; installed once, if
# they are missing, where that can be done (tools/deps.sh).
$(B)/.deps: tools/deps.sh
	@PKG_CONFIG=$(PKG_CONFIG) sh tools/deps.sh $(LIBRARIES) $(if $(filter check%,$(MAKECMDGOALS)),check)
	@mkdir -p $(B) && touch $@
$(B)/.deps-check: tools/deps.sh | $(B)/.deps
	@PKG_CONFIG=$(PKG_CONFIG) sh tools/deps.sh check
	@touch $@
deps: $(B)/.deps-check

$(B)/%.o: %.c | $(B)/.deps
	@mkdir -p $(@D)
	$(CC) $(CPPFLAGS) $(CFLAGS) -MMD -MP -c -o $@ $<

# Objects of the library are made anew where how they are made changes.
$(B)/.shared: FORCE
	@mkdir -p $(@D)
	@echo '$(SHARED)' | cmp -s - $@ || echo '$(SHARED)' > $@
$(LIB_OBJ): private PIE :=
$(LIB_OBJ): private CFLAGS += $(SHARED)
$(LIB_OBJ): $(B)/.shared

# Which commit reports say they come from: what git tells, or in an archive of
# make dist the file COMMIT.
COMMIT := $(if $(wildcard .git),$(shell git rev-parse --short=12 HEAD 2>/dev/null),$(shell \
            sed -n 's/^\([0-9a-f]\{12\}\).*/\1/p' COMMIT 2>/dev/null))
$(B)/.commit: FORCE
	@mkdir -p $(@D)
	@echo '$(COMMIT)' | cmp -s - $@ || echo '$(COMMIT)' > $@
$(B)/src/api/session.o: $(B)/.commit
$(B)/src/api/session.o: private CPPFLAGS += -DSONDE_COMMIT='"$(COMMIT)"'

# The simulator is where tests live: a few percent of their time.
$(B)/src/device/sim/%.o $(B)/src/model/%.o: OPT := -O3 $(filter -g%,$(OPT))

# The shipped profiles travel inside the binary.
$(B)/profiles.c: $(PROFILE_SRC) tools/embed.sh
	@mkdir -p $(B)
	sh tools/embed.sh $(PROFILE_SRC) > $@.tmp && mv $@.tmp $@
$(B)/profiles.o: $(B)/profiles.c | $(B)/.deps
	$(CC) $(CPPFLAGS) $(CFLAGS) -c -o $@ $<

$(B)/libsonde.a: $(LIB_OBJ)
	@rm -f $@
	$(AR) rcs $@ $^
# Shared, with the shared libraries that it needs; and an archive for whoever
# links statically, of one object in which nothing else is visible either.
$(B)/libsonde.so: $(LIB_OBJ)
	$(CC) $(CFLAGS) $(LDFLAGS) -shared -Wl,-soname,libsonde.so.$(SO) -o $@ $^ \
	    $(DEP_DIRS) -ljansson -lzstd -lm -ldl -pthread
$(B)/installed/libsonde.a: $(LIB_OBJ)
	@mkdir -p $(@D)
	$(LD) -r -o $(@D)/libsonde.o $^
	$(OBJCOPY) --localize-hidden $(@D)/libsonde.o
	@rm -f $@
	$(AR) rcs $@ $(@D)/libsonde.o
# Of the folder where it is going to be; written anew for each.
$(B)/installed/sonde.pc: FORCE
	@mkdir -p $(@D)
	@printf '%s\n' 'prefix=$(PREFIX)' 'libdir=$(LIBDIR)' \
	    'includedir=$${prefix}/include' '' 'Name: sonde' \
	    'Description: what is inside an NVIDIA GPU, measured' \
	    'Version: $(VERSION)' 'Requires.private: jansson libzstd' \
	    'Cflags: -I$${includedir}' 'Libs: -L$${libdir} -lsonde' \
	    'Libs.private: -lm -ldl -pthread' > $@
FORCE:
$(B)/sonde: $(CLI_OBJ) $(B)/libsonde.a
	$(CC) $(CFLAGS) $(LDFLAGS) -pie -o $@ $^ $(LDLIBS)

INSTALLED := $(B)/sonde $(B)/libsonde.so $(B)/installed/libsonde.a \
             $(B)/installed/sonde.pc
bin   := $(DESTDIR)$(PREFIX)/bin
lib   := $(DESTDIR)$(LIBDIR)
share := $(DESTDIR)$(PREFIX)/share
install: $(INSTALLED)
	install -D $(B)/sonde $(bin)/sonde
	install -D -m 644 $(B)/libsonde.so $(lib)/libsonde.so.$(SO)
	ln -sf libsonde.so.$(SO) $(lib)/libsonde.so
	install -D -m 644 $(B)/installed/libsonde.a $(lib)/libsonde.a
	install -D -m 644 $(B)/installed/sonde.pc $(lib)/pkgconfig/sonde.pc
	install -D -m 644 include/sonde.h $(DESTDIR)$(PREFIX)/include/sonde.h
	install -D -m 644 docs/report.schema.json $(share)/sonde/report.schema.json
	install -D -m 644 docs/sonde.1 $(share)/man/man1/sonde.1
	install -d $(share)/doc/sonde/examples $(share)/bash-completion/completions \
	    $(share)/fish/vendor_completions.d
	install -m 644 examples/* $(share)/doc/sonde/examples
	$(B)/sonde --completion bash > $(share)/bash-completion/completions/sonde
	$(B)/sonde --completion fish > $(share)/fish/vendor_completions.d/sonde.fish
uninstall:
	rm -f $(bin)/sonde $(lib)/libsonde.so $(lib)/libsonde.so.$(SO) $(lib)/libsonde.a \
	    $(lib)/pkgconfig/sonde.pc $(DESTDIR)$(PREFIX)/include/sonde.h \
	    $(share)/man/man1/sonde.1 $(share)/bash-completion/completions/sonde \
	    $(share)/fish/vendor_completions.d/sonde.fish
	rm -rf $(share)/sonde $(share)/doc/sonde

run: $(B)/sonde
	$(B)/sonde

clean:
	rm -rf $(B)

help:
	@echo 'make            build/sonde and build/libsonde.a'
	@echo 'make run        build, then measure the GPU (or a simulated one)'
	@echo 'make check      the tests that need no GPU (SEEDS=20 for more seeds)'
	@echo 'make check-quick  those of them that take seconds'
	@echo 'make check-all  the slow tests, which make check leaves out'
	@echo 'make check-gpu  the studies on a real GPU against ranges'
	@echo 'make bench      how fast the simulator and the studies are'
	@echo 'make goldens    write golden reports and what documents print anew'
	@echo 'make same       no answer differs from those of an earlier commit'
	@echo 'make disturb    what is found on disturbed GPUs is right'
	@echo 'make truth      what is found on random GPUs is right (N=20 SEED=7000)'
	@echo 'make calibrate  how often intervals hold the truth'
	@echo 'make faults     a driver that fails at each call costs what it must'
	@echo 'make faults_memory, make faults_files  a host out of memory, a full disk'
	@echo 'make coverage   which share of the source the tests run'
	@echo 'make mutate     which changes of the source no test notices (N=60 SEED=1)'
	@echo 'make check-odd  hosts that are odd: no home, small stacks, closed streams'
	@echo 'make fuzz       readers under libFuzzer, ten minutes each (SECONDS_EACH=60)'
	@echo 'make figures    figures of the code: lines, lengths, circles'
	@echo 'make install    to PREFIX=$(PREFIX); make uninstall takes it away'
	@echo 'make dist       the source as build/sonde-$(VERSION).tar.gz'
	@echo 'make deb        packages for Debian, below build/deb'
	@echo 'make static     build/static/sonde, which needs no library'
	@echo 'make check-packages  these are made, installed, tried and removed'
	@echo 'SAN=address,undefined with any of these: under the sanitizers'

include tests/tests.mk
include packaging/packaging.mk
-include $(LIB_OBJ:.o=.d) $(CLI_OBJ:.o=.d) $(TEST_OBJ:.o=.d)
