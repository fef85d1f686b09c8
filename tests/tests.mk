# Tests: included by the Makefile at the top.  Suites come by wildcard from the
# folders in TEST_SRC and from tests/suites.def.

# Those of Check's libraries that have an archive go in whole, so that
# check-gpu can be carried to a bare GPU machine as one file.
CHECK_LIBS  = $(call static,check) $(call static,subunit) -lrt
TEST_CPP   := -Itests
TEST_BASE  := $(B)/tests/testing.o $(B)/tests/devices.o $(B)/tests/gpu_made.o \
              $(B)/tests/judge.o $(B)/tests/disturbance.o $(B)/tests/schema.o \
              $(B)/tests/fleet_made.o
GPU_SRC    := $(sort $(wildcard tests/gpu/*.c))
GPU_OBJ    := $(GPU_SRC:%.c=$(B)/%.o) $(B)/tests/unit/disassembler.o
BENCH_SRC  := $(sort $(wildcard tests/bench/*.c))
BENCH      := $(BENCH_SRC:tests/bench/%.c=$(B)/bench/%)
TOOL_SRC   := $(sort $(wildcard tools/*.c))
FAKE_CUDA  := $(sort $(wildcard tests/driver/fake/cuda*.c))
FAKE_NVML  := $(sort $(wildcard tests/driver/fake/nvml*.c))
FAKE       := $(if $(FAKE_CUDA),$(B)/tests/fake/libcuda.so.1) \
              $(if $(FAKE_NVML),$(B)/tests/fake/libnvidia-ml.so.1)
FAULTY     := $(B)/tests/faulty/libcuda.so.1 $(B)/tests/faulty/libnvidia-ml.so.1

$(TEST_OBJ) $(TEST_BASE) $(B)/tests/main.o $(GPU_OBJ): | $(B)/.deps-check
$(B)/tests/%.o: CPPFLAGS += $(TEST_CPP)
# What tests do themselves is short: they compile in half the time so.
$(B)/tests/%.o: OPT := -O0 $(filter -g%,$(OPT))
$(B)/tests/gpu/main.o: CPPFLAGS += -DSUITES='"gpu/suites.def"'

# Code under the sanitizers takes several times as long.
TEST_ENV := $(if $(SAN),CK_TIMEOUT_MULTIPLIER=5)

# The commands of the tool that check-quick tries; each takes a second at most.
QUICK_CASES = commands completion deps explain help json list man names-in-docs options probe report usage

# Calls of the C library that fail on demand; see the head of tools/faults_files.sh.
PRELOAD := $(B)/tests/preload/fail.so
$(PRELOAD): tests/preload/fail.c | $(B)/.deps
	@mkdir -p $(@D)
	$(CC) $(CPPFLAGS) -std=c11 -O1 -fPIC -shared -o $@ $<
.PHONY: faults_files
faults_files: $(B)/sonde $(PRELOAD)
	@sh tools/faults_files.sh $(B)/sonde $(PRELOAD)
.PHONY: faults_memory
faults_memory: $(B)/sonde $(PRELOAD)
	@sh tools/faults_memory.sh $(B)/sonde $(PRELOAD)

TESTED := $(PRELOAD) $(B)/check $(B)/sonde $(B)/example $(INSTALLED) $(FAKE) $(FAULTY)
check: $(TESTED)
	@$(TEST_ENV) sh tests/run.sh $(B)
check-quick: $(TESTED)
	@$(TEST_ENV) sh tests/run.sh $(B) -q '$(QUICK_CASES)'
# What check leaves out, and some random GPUs that no commit before met.
check-all: $(TESTED)
	@$(TEST_ENV) RANDOM_COMMIT=$${RANDOM_COMMIT-$$(git rev-parse --short=7 HEAD)} \
	    sh tests/run.sh $(B) -s -

$(B)/check: $(B)/tests/main.o $(TEST_BASE) $(TEST_OBJ) $(B)/libsonde.a
	$(CC) $(CFLAGS) $(LDFLAGS) -o $@ $^ $(CHECK_LIBS) $(LDLIBS)

# The program in the head of sonde.h, as a user of the library builds it, but
# on a GPU that is always there.
$(B)/example.c: include/sonde.h
	@mkdir -p $(@D)
	sed -n '/^ \*\//q; s/^ \*     //p' $< | sed 's/cuda:0/sim:k20c/' > $@
$(B)/example: $(B)/example.c $(B)/libsonde.a
	$(CC) -Iinclude $(CFLAGS) -Werror $(LDFLAGS) -o $@ $^ $(LDLIBS)

# A driver that fails on demand, for tests/driver; found beside the binary.
$(B)/tests/fake/libcuda.so.1: $(FAKE_CUDA) | $(B)/.deps
$(B)/tests/fake/libnvidia-ml.so.1: $(FAKE_NVML) | $(B)/.deps
$(B)/tests/fake/%.so.1:
	@mkdir -p $(@D)
	$(CC) $(CPPFLAGS) $(TEST_CPP) $(CFLAGS) -MMD -MP -MF $@.d -fPIC -shared \
	    -Wl,-soname,$(@F) $(LDFLAGS) -o $@ $(filter %.c,$^) -pthread

# A driver with a GPU, the simulator, which fails at any call on demand.  What it
# has of sonde is its own: nothing of it is seen by the program that opens it.
$(B)/tests/faulty/libcuda.so.1: tests/driver/faulty/cuda.c tests/driver/faulty/fault.c $(B)/libsonde.a
$(B)/tests/faulty/libnvidia-ml.so.1: tests/driver/faulty/nvml.c tests/driver/faulty/fault.c | $(B)/.deps
$(B)/tests/faulty/%.so.1: tests/driver/faulty/fault.h
	@mkdir -p $(@D)
	$(CC) $(CPPFLAGS) $(CFLAGS) -fPIC -fvisibility=hidden -shared -s \
	    -Wl,-soname,$(@F) -Wl,-Bsymbolic -Wl,--exclude-libs,ALL \
	    -Wl,--gc-sections $(LDFLAGS) -o $@ $(filter %.c %.a,$^) \
	    $(DEP_DIRS) -ljansson -lzstd -lm -ldl -pthread

# Writes the golden reports of tests/replay, what studies say of the small GPUs
# of some suites (tests/truth/said.h), the tables of docs/profiles.md and
# docs/assumptions.md, the report at the top of README.md and the examples of
# documents anew, for you to read what changed.
SAID := truth_small truth_unlike truth_partitions truth_sharing truth_conflict truth_tlb truth_icache \
	truth_contention
goldens: $(B)/check $(B)/sonde
	rm -f tests/truth/said/*.txt
	GOLDENS=1 $(B)/check -j 1 replay $(SAID) profile_keys docs picture truth_assume
	UPDATE=1 sh tests/cli/run.sh $(B)/sonde readme examples

check-gpu: $(B)/check-gpu
	@$(TEST_ENV) $(B)/check-gpu -j 1

$(B)/tests/gpu/main.o: tests/main.c | $(B)/.deps-check
	@mkdir -p $(@D)
	$(CC) $(CPPFLAGS) $(CFLAGS) -MMD -MP -c -o $@ $<
$(B)/check-gpu: $(B)/tests/gpu/main.o $(TEST_BASE) $(GPU_OBJ) $(B)/libsonde.a
	$(CC) $(CFLAGS) $(LDFLAGS) -o $@ $^ $(CHECK_LIBS) $(LDLIBS)

# Tools that are compiled: what they print is for those who work on sonde.
$(B)/tools/%: $(B)/tools/%.o $(B)/libsonde.a
	$(CC) $(CFLAGS) $(LDFLAGS) -o $@ $(filter %.o,$^) $(filter %.a,$^) $(LDLIBS)
.SECONDARY: $(TOOL_SRC:%.c=$(B)/%.o)

# Whether answers are those of an earlier commit; see the head of the script.
same: $(B)/sonde $(B)/tools/same
	@B=$(B) sh tools/same.sh with-base

# What profiles say, as tests compare it.
TRUTH_OBJ := $(patsubst %,$(B)/tests/truth/%.o,claim component gpu index said seeds structure truth)

# Whether what is found on disturbed GPUs is right, and how often intervals hold
# the truth; see the head of the script.
$(B)/tools/disturb.o: CPPFLAGS += $(TEST_CPP)
$(B)/tools/disturb: LDLIBS := $(CHECK_LIBS) $(LDLIBS)
$(B)/tools/disturb: $(TRUTH_OBJ) $(TEST_BASE)
disturb: $(B)/sonde $(B)/tools/disturb
	@B=$(B) sh tools/disturb.sh disturb
calibrate: $(B)/sonde $(B)/tools/disturb
	@B=$(B) sh tools/disturb.sh calibrate

# Whether what is found on random GPUs is right; see the head of the script.
$(B)/tools/truth.o: CPPFLAGS += $(TEST_CPP)
$(B)/tools/truth: LDLIBS := $(CHECK_LIBS) $(LDLIBS)
$(B)/tools/truth: $(TRUTH_OBJ) $(TEST_BASE)
truth: $(B)/sonde $(B)/tools/truth
	@B=$(B) sh tools/truth.sh run

# Whether sonde fleet finds what was planted, and how fast; see its head.
$(B)/tools/fleet.o: CPPFLAGS += $(TEST_CPP)
$(B)/tools/fleet: $(B)/tests/fleet_made.o
.PHONY: fleet
fleet: $(B)/sonde $(B)/tools/fleet
	@B=$(B) sh tools/fleet.sh

# Faults of the driver at every entry point, on the program as users run it; see
# the head of tools/faults.c.
$(B)/tools/faults.o: CPPFLAGS += $(TEST_CPP)
$(B)/tools/faults: LDLIBS := $(CHECK_LIBS) $(LDLIBS)
$(B)/tools/faults: $(B)/tests/driver/fault_points.o $(B)/tests/schema.o
.PHONY: faults
faults: $(B)/sonde $(B)/tools/faults $(FAULTY)
	@$(B)/tools/faults $(B) $(or $(EVERY),1) $(or $(WORKERS),2) $(ENTRY)

# Hosts that are odd: no home, small stacks, one core, closed streams, several at
# once, another language's numbers.
.PHONY: check-odd
check-odd: $(TESTED)
	@sh tests/cli/run.sh $(B)/sonde odd-hosts
	@$(B)/check numeric

# Which share of src/ the suites and commands of `make check` run, without a GPU.
# The simulator and the models, which have their own OPT, are not counted, or it
# would take hours; SIM=1 counts them, too, for SUITES that take seconds.
COVERED  := $(B)/coverage$(if $(SIM),-sim)
COUNTING := --coverage -fprofile-update=atomic
.PHONY: coverage
coverage:
	@find $(COVERED) -name '*.gcda' -delete 2>/dev/null || true
	@OPT='-O0 -g $(COUNTING)' CFLAGS='$(if $(SIM),$(COUNTING))' LDFLAGS=--coverage \
	    $(MAKE) -s B=$(COVERED) $(patsubst $(B)/%,$(COVERED)/%,$(TESTED))
	@CK_TIMEOUT_MULTIPLIER=5 sh tests/run.sh $(COVERED) "$(SUITES)" | tail -1
	@sh tools/coverage.sh $(COVERED)

# Which changes of the source no test notices; see the head of the script.
.PHONY: mutate
mutate:
	@B=$(B) sh tools/mutate.sh

# Whether a validation names each value that is wrong, on all shipped GPUs or
# those of PROFILES: see the head of tests/truth/validate.c.
falsify: $(B)/check
	@LIES=$(or $(LIES),1) $(B)/check -s truth_validate

# Of each shipped profile, or PROFILES: see tools/closure.sh.
closure: $(B)/sonde
	@SONDE=$(B)/sonde sh tools/closure.sh

# A shipped profile anew, of the reports in results/: make profile GPU=h100.
.PHONY: profile
profile:
	@MAKE='$(MAKE)' sh tools/profile.sh $(GPU)

# Where the code is large, long or tangled.
figures: $(B)/libsonde.a
	@B=$(B) sh tools/figures.sh

bench: $(BENCH)
	@set -e; for bench in $^; do $$bench; done

$(B)/bench/%: $(B)/tests/bench/%.o $(B)/tests/gpu_made.o $(B)/libsonde.a
	@mkdir -p $(@D)
	$(CC) $(CFLAGS) $(LDFLAGS) -o $@ $^ $(LDLIBS)
.SECONDARY: $(BENCH_SRC:%.c=$(B)/%.o)

-include $(B)/tests/main.d $(TEST_BASE:.o=.d) $(B)/tests/gpu/main.d \
    $(GPU_OBJ:.o=.d) $(FAKE:=.d) $(BENCH_SRC:%.c=$(B)/%.d) $(TOOL_SRC:%.c=$(B)/%.d)

# Readers under libFuzzer, with the sanitizers; see the head of the script.
FUZZ_OBJ := $(patsubst %,$(B)/tests/%.o,fuzz/libfuzzer/libfuzzer \
              fuzz/targets fuzz/used fuzz/mutate unit/cubins unit/markup_check)
$(B)/fuzz: $(FUZZ_OBJ) $(TEST_BASE) $(B)/libsonde.a
	$(CC) $(CFLAGS) $(LDFLAGS) -fsanitize=fuzzer -Wl,-z,muldefs -o $@ $^ $(CHECK_LIBS) $(LDLIBS)
.PHONY: fuzz
fuzz:
	@$(MAKE) -s CC=clang B=build/clang SAN=fuzzer-no-link,address,undefined build/clang/fuzz
	@sh tools/fuzz.sh build/clang/fuzz
