/*
 * The device cuda:N against a driver without a GPU (tests/driver/fake), which
 * fails, faults and hangs on demand: opening, failing, reports and launches.
 */
#include "fake_driver.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/stop.h"
#include "device/cuda/cuda.h"
#include "device/cuda/library/library.h"

static const char *const other_ptx = ".entry other()\n{\n    ret;\n}\n";

static const struct {
    const char *name;
    enum library_need need;
} entries[] = {
#define ENTRY(need, name, arguments) {#name, need},
#include "device/cuda/library/driver.def"
#undef ENTRY
};

static const char *const management[] = {
#define ENTRY(need, name, arguments) #name,
#include "device/cuda/library/nvml.def"
#undef ENTRY
};

enum { ENTRIES = COUNT_OF(entries), MANAGEMENT = COUNT_OF(management) };

static int open_as(const char *spec, struct device **device, struct error *err)
{
    return device_open(spec, NULL, device, NULL, err);
}

static const struct launch plain = {.carve_out = CARVE_OUT_DEFAULT};

/* Which of many steps failed, and what the first said. */
struct outcome {
    int failures;
    struct error first;
};

static bool step(struct outcome *o, int status, const struct error *err)
{
    if (status == 0)
        return true;
    ck_assert_int_lt(status, 0);
    ck_assert_int_eq(status, err->code);
    ck_assert_str_ne(err->text, "");
    if (o->failures++ == 0)
        o->first = *err;
    return false;
}

static void exercise_kernel(struct device *d, struct module *m,
                            struct outcome *o)
{
    struct error err;
    struct kernel *k;
    double ns;
    struct launch launch = {.grid = {2}, .block = {32}, .carve_out = 25};
    if (!step(o, device_kernel(d, m, "chase", &k, &err), &err))
        return;
    if (step(o, device_launch(d, k, &launch, &err), &err))
        step(o, device_elapsed(d, &ns, &err), &err);
    launch = (struct launch){
        .cluster = {16}, .shared_bytes = 65536, .carve_out = 100};
    step(o, device_launch(d, k, &launch, &err), &err);
}

/* Side by side, then apart. */
static void exercise_aliases(struct device *d, struct outcome *o)
{
    const uint64_t piece = d->info.mapping_bytes;
    struct aliases dense = {.bytes = piece, .stride = piece, .count = 3};
    static const uint32_t only[] = {0, 2};
    struct aliases sparse = {.bytes = piece,
                             .stride = 4 * piece,
                             .count = 3,
                             .only = only,
                             .only_count = 2};
    struct error err;
    uint32_t word = 42;
    if (piece == 0)
        return;
    if (step(o, device_map(d, &dense, &err), &err))
        step(o,
             device_copy_in(d, dense.address + 2 * piece, &word, sizeof word,
                            &err),
             &err);
    step(o, device_map(d, &sparse, &err), &err);
    device_unmap(d, &sparse);
    device_unmap(d, &dense);
}

static void exercise_memory(struct device *d, struct outcome *o)
{
    struct error err;
    struct texture texture;
    uint64_t address = 0, bytes;
    uint32_t word = 42;
    step(o, device_memory_free(d, &bytes, &err), &err);
    if (!step(o, device_allocate(d, 4096, &address, &err), &err))
        return;
    step(o, device_copy_in(d, address, &word, sizeof word, &err), &err);
    step(o, device_copy_out(d, &word, address, sizeof word, &err), &err);
    if (step(o, device_texture_open(d, address, 4096, &texture, &err), &err))
        device_texture_close(d, &texture);
    device_release(d, address);
}

/* There and back, one beside the other. */
static void exercise_transfers(struct device *d, struct outcome *o)
{
    enum { BYTES = 4096 };
    struct error err;
    uint64_t own = 0, host = 0, pageable = 0;
    if (step(o, device_allocate(d, BYTES, &own, &err), &err) &&
        step(o, device_allocate_at(d, PLACE_HOST, BYTES, &host, &err), &err) &&
        step(o, device_allocate_at(d, PLACE_PAGEABLE, BYTES, &pageable, &err),
             &err)) {
        struct transfer t[] = {
            {.to = own, .from = host, .bytes = BYTES, .times = 2},
            {.to = pageable, .from = own, .bytes = BYTES, .times = 1}};
        step(o, device_transfer(d, t, COUNT_OF(t), &err), &err);
    }
    device_release(d, pageable);
    device_release(d, host);
    device_release(d, own);
}

static void exercise_peers(struct device *d, struct outcome *o)
{
    enum { BYTES = 4096 };
    enum device_peer peers[PEERS_MOST];
    struct error err;
    size_t count;
    uint64_t own = 0, one = 0, two = 0;
    uint32_t word = 42;
    if (!step(o, device_peers(d, peers, &count, &err), &err))
        return;
    if (step(o, device_allocate_at(d, PLACE_PEER + 1, BYTES, &one, &err),
             &err) &&
        step(o, device_allocate_at(d, PLACE_PEER + 2, BYTES, &two, &err),
             &err) &&
        step(o, device_allocate(d, BYTES, &own, &err), &err) &&
        step(o, device_copy_in(d, one, &word, sizeof word, &err), &err)) {
        struct transfer t[] = {
            {.to = own, .from = one, .bytes = BYTES, .times = 1},
            {.to = two, .from = one, .bytes = BYTES, .times = 2},
            {.to = one, .from = two, .bytes = BYTES, .times = 2},
        };
        struct transfer alone = {.to = own,
                                 .from = one,
                                 .bytes = BYTES,
                                 .times = 1,
                                 .by_other = true};
        step(o, device_transfer(d, t, COUNT_OF(t), &err), &err);
        step(o, device_transfer(d, t, COUNT_OF(t) - 1, &err), &err);
        step(o, device_transfer(d, &alone, 1, &err), &err);
    }
    device_release(d, own);
    device_release(d, two);
    device_release(d, one);
}

static void exercise_module(struct device *d, struct outcome *o)
{
    struct error err;
    struct module *m;
    const void *code;
    size_t length, bytes;
    uint64_t address;
    const struct source sources[] = {
        {other_ptx, 0}, {fake_ptx, 0}, {fake_ptx, 4}};
    step(o, device_prepare(d, sources, 2, &err), &err);
    if (!step(o, device_load(d, &sources[2], &m, &err), &err))
        return;
    step(o, device_code(d, m, &code, &length, &err), &err);
    step(o, device_symbol(d, m, "table", &address, &bytes, &err), &err);
    exercise_kernel(d, m, o);
    device_unload(d, m);
}

/* Everything that a device can do, from the list of devices to the end. */
static struct outcome exercise(void)
{
    struct outcome o = {0};
    struct error err;
    struct device_entry *list = NULL;
    size_t count = 0;
    struct device *d;
    struct device_sense sense;
    setenv("FAKE_CUDA_GPUS", "3", 1);
    step(&o, cuda_device_ops.list(&list, &count, &err), &err);
    free(list);
    if (!step(&o, open_as("cuda:0", &d, &err), &err))
        return o;
    step(&o, device_sense(d, &sense, &err), &err);
    exercise_memory(d, &o);
    exercise_aliases(d, &o);
    exercise_transfers(d, &o);
    exercise_peers(d, &o);
    exercise_module(d, &o);
    device_close(d);
    return o;
}

START_TEST(all_works_and_all_is_given_back)
{
    NEED_FAKE();
    const struct outcome o = exercise();
    ck_assert_msg(o.failures == 0, "%s", o.first.text);
    ck_assert_int_eq(fake_count("fake_live"), 0);
    ck_assert_int_eq(fake_count("fake_swept"), 0);
}
END_TEST

/* What may fail and nobody must notice: the words for an error, what is
 * optional, and giving back. */
static bool is_silent(const char *entry)
{
    static const char *const silent[] = {
        "cuGetErrorName",
        "cuGetErrorString",
        "cuDeviceGetUuid_v2",
        "cuDeviceGetTexture1DLinearMaxWidth",
        "cuCtxDestroy_v2",
        "cuModuleUnload",
        "cuMemFree_v2",
        "cuTexObjectDestroy",
        "cuEventDestroy_v2",
        "cuCtxGetLimit",
        "cuCtxSetLimit",
        "cuMemGetAllocationGranularity",
        "cuMemAddressFree",
        "cuMemRelease",
        "cuMemUnmap",
        "cuDeviceGetPCIBusId",
        "cuMemFreeHost",
        "cuStreamDestroy_v2",
        "cuDeviceGetP2PAttribute",
    };
    for (size_t i = 0; i < COUNT_OF(silent); i++)
        if (strcmp(silent[i], entry) == 0)
            return true;
    return false;
}

START_TEST(each_failure_is_an_error_that_names_its_entry_point)
{
    NEED_FAKE();
    const char *entry = entries[_i].name;
    fake_fail(entry, 999, 0);
    /* Without its UUID a GPU is not found in the management library. */
    if (strcmp(entry, "cuDeviceGetUuid_v2") == 0)
        entry = "libnvidia-ml";
    else if (is_silent(entry)) {
        ck_assert_int_eq(exercise().failures, 0);
        return;
    }
    const struct outcome o = exercise();
    ck_assert_int_gt(o.failures, 0);
    ck_assert_msg(strstr(o.first.text, entry) != NULL, "%s: %s", entry,
                  o.first.text);
}
END_TEST

/* Codes with a way of their own: bad value, no memory, no GPU, bad image, lost
 * context, unsupported, unknown. */
static const int codes[] = {1, 2, 100, 200, 218, 700, 801, 999};

START_TEST(no_failure_of_any_kind_leaks_or_crashes)
{
    NEED_FAKE();
    const char *const entry = entries[_i / (int)COUNT_OF(codes)].name;
    fake_fail(entry, codes[_i % (int)COUNT_OF(codes)], 0);
    exercise();
    /* After an event has failed, a kernel may still run: its context stays. */
    if (strcmp(entry, "cuEventRecord") != 0 &&
        strcmp(entry, "cuEventQuery") != 0)
        ck_assert_int_eq(fake_count("fake_live"), 0);
}
END_TEST

START_TEST(a_failure_at_a_later_call_leaks_nothing)
{
    NEED_FAKE();
    const char *const entry = entries[_i % ENTRIES].name;
    fake_fail(entry, 999, 2 + _i / ENTRIES);
    exercise();
    if (strcmp(entry, "cuEventRecord") != 0 &&
        strcmp(entry, "cuEventQuery") != 0)
        ck_assert_int_eq(fake_count("fake_live"), 0);
}
END_TEST

START_TEST(a_missing_driver_is_no_device_and_an_empty_list)
{
    struct error err;
    struct device *device;
    struct device_entry *list = NULL;
    size_t count = 0;
    setenv("SONDE_LIBCUDA", "/nowhere/libcuda.so.1", 1);
    ASSERT_FAILS(open_as("cuda:0", &device, &err), ERR_NO_DEVICE, err,
                 "no NVIDIA driver");
    ASSERT_DONE(cuda_device_ops.list(&list, &count, &err), err);
    ck_assert_uint_eq(count, 0);
}
END_TEST

START_TEST(a_driver_without_an_entry_point_is_refused_or_lived_with)
{
    NEED_FAKE();
    struct error err;
    struct device *device;
    fake_without(entries[_i].name);
    if (entries[_i].need == REQUIRED) {
        ASSERT_FAILS(open_as("cuda:0", &device, &err), ERR_DEVICE, err,
                     entries[_i].name);
        return;
    }
    ASSERT_DONE(open_as("cuda:0", &device, &err), err);
    device_close(device);
    exercise();
    ck_assert_int_eq(fake_count("fake_live"), 0);
}
END_TEST

START_TEST(aliases_are_one_memory)
{
    NEED_FAKE();
    struct error err;
    struct device *const device = fake_open(NULL);
    const uint64_t piece = device->info.mapping_bytes;
    struct aliases a = {.bytes = 2 * piece, .stride = 8 * piece, .count = 4};
    uint32_t in = 7, out = 0;
    ASSERT_DONE(device_map(device, &a, &err), err);
    ck_assert_uint_eq(a.address % (32 * piece), 0);
    for (uint64_t i = 0; i < a.count; i++) {
        const uint64_t next = (i + 1) % a.count;
        in++;
        ASSERT_DONE(device_copy_in(device, a.address + i * a.stride + piece,
                                   &in, sizeof in, &err),
                    err);
        ASSERT_DONE(device_copy_out(device, &out,
                                    a.address + next * a.stride + piece,
                                    sizeof out, &err),
                    err);
        ck_assert_uint_eq(in, out);
    }
    device_close(device);
    ck_assert_int_eq(fake_count("fake_live"), 0);
    ck_assert_int_eq(fake_count("fake_swept"), 0);
}
END_TEST

START_TEST(some_aliases_alone_are_mapped)
{
    NEED_FAKE();
    static const uint32_t only[] = {1, 3};
    struct error err;
    struct device *const device = fake_open(NULL);
    const uint64_t piece = device->info.mapping_bytes;
    struct aliases a = {.bytes = piece,
                        .stride = piece,
                        .count = 4,
                        .only = only,
                        .only_count = 2};
    uint32_t in = 7, out = 0;
    ASSERT_DONE(device_map(device, &a, &err), err);
    ASSERT_DONE(device_copy_in(device, a.address + piece, &in, sizeof in, &err),
                err);
    ASSERT_DONE(
        device_copy_out(device, &out, a.address + 3 * piece, sizeof out, &err),
        err);
    ck_assert_uint_eq(out, in);
    device_close(device);
    ck_assert_int_eq(fake_count("fake_live"), 0);
    ck_assert_int_eq(fake_count("fake_swept"), 0);
}
END_TEST

/* Wherever a driver puts them, and however far apart they are: else bits of
 * their addresses differ that bits of their distances do not. */
START_TEST(aliases_differ_as_their_distances)
{
    NEED_FAKE();
    struct error err;
    struct device *const device = fake_open(NULL);
    const uint64_t piece = device->info.mapping_bytes;
    for (uint64_t odd = 3; odd < 12; odd += 2) {
        struct aliases a = {.bytes = piece, .stride = odd * piece, .count = 5};
        ASSERT_DONE(device_map(device, &a, &err), err);
        for (uint64_t i = 0; i < a.count; i++)
            ck_assert_uint_eq(a.address + i * a.stride,
                              a.address ^ i * a.stride);
        device_unmap(device, &a);
    }
    device_close(device);
}
END_TEST

/* … whichever it lacks; what it could map must not be half known. */
START_TEST(a_driver_that_cannot_map_says_so)
{
    static const char *const lacking[] = {"cuMemGetAllocationGranularity",
                                          "cuMemUnmap", "cuMemSetAccess"};
    NEED_FAKE();
    struct error err;
    struct aliases a = {.bytes = 2 << 20, .stride = 2 << 20, .count = 2};
    fake_without(lacking[_i]);
    struct device *const device = fake_open(NULL);
    ck_assert_uint_eq(device->info.mapping_bytes, 0);
    ASSERT_FAILS(device_map(device, &a, &err), ERR_UNSUPPORTED, err,
                 "several addresses");
    device_close(device);
}
END_TEST

START_TEST(mapping_is_undone_where_it_fails_or_is_stopped)
{
    NEED_FAKE();
    struct error err;
    struct device *const device = fake_open(NULL);
    const uint64_t piece = device->info.mapping_bytes;
    struct aliases a = {.bytes = piece, .stride = 2 * piece, .count = 9};
    /* The piece itself is kept for the next mapping. */
    const int kept = fake_count("fake_live") + 1;
    fake_fail("cuMemMap", 2, 5);
    ASSERT_FAILS(device_map(device, &a, &err), ERR_DEVICE_MEMORY, err,
                 "time 5 of 9");
    ck_assert_int_eq(fake_count("fake_live"), kept);
    device->ticket = stop_ticket();
    stop_request();
    ASSERT_FAILS(device_map(device, &a, &err), ERR_INTERRUPTED, err,
                 "was stopped");
    ck_assert_int_eq(fake_count("fake_live"), kept);
    ck_assert_uint_eq(a.address, 0);
    device_close(device);
    ck_assert_int_eq(fake_count("fake_live"), 0);
}
END_TEST

START_TEST(clusters_are_unsupported_where_the_driver_lacks_them)
{
    NEED_FAKE();
    struct error err;
    fake_without("cuLaunchKernelEx");
    struct device *const device = fake_open(NULL);
    struct kernel *const kernel = fake_kernel(device);
    struct launch launch = plain;
    launch.cluster[0] = 2;
    ASSERT_FAILS(device_launch(device, kernel, &launch, &err), ERR_UNSUPPORTED,
                 err, "clusters");
    ASSERT_DONE(device_launch(device, kernel, &plain, &err), err);
    device_close(device);
}
END_TEST

START_TEST(an_old_driver_is_told_its_age)
{
    NEED_FAKE();
    struct error err;
    struct device *device;
    setenv("FAKE_CUDA_VERSION", "11080", 1);
    ASSERT_FAILS(open_as("cuda:0", &device, &err), ERR_DEVICE, err,
                 "CUDA 11.8");
}
END_TEST

START_TEST(prohibited_mode_names_the_command_that_ends_it)
{
    NEED_FAKE();
    struct error err;
    struct device *device;
    setenv("FAKE_CUDA_MODE", "2", 1);
    ASSERT_FAILS(
        open_as("cuda:1", &device, &err), ERR_DEVICE, err,
        "nvidia-smi -i GPU-a1a1a2a3-a4a5-a6a7-a8a9-aaabacadaeaf -c DEFAULT");
}
END_TEST

static const struct {
    int result, code;
    const char *word;
} start_failures[] = {
    {100, ERR_NO_DEVICE, "nvidia-smi -L"},
    {34, ERR_NO_DEVICE, "LD_LIBRARY_PATH"},
    {802, ERR_DEVICE, "nvidia-fabricmanager"},
    {803, ERR_DEVICE, "reboot"},
    {804, ERR_DEVICE, "compatibility"},
    {304, ERR_DEVICE, "/dev/nvidia"},
    {999, ERR_DEVICE, "nvidia_uvm"},
};

START_TEST(a_driver_that_cannot_start_says_what_to_do)
{
    NEED_FAKE();
    struct error err;
    struct device *device;
    fake_fail("cuInit", start_failures[_i].result, 0);
    ASSERT_FAILS(open_as("cuda:0", &device, &err), start_failures[_i].code, err,
                 start_failures[_i].word);
}
END_TEST

START_TEST(a_busy_gpu_says_how_to_find_who_holds_it)
{
    NEED_FAKE();
    struct error err;
    struct device *device;
    fake_fail("cuCtxCreate_v2", 46, 0);
    ASSERT_FAILS(open_as("cuda:0", &device, &err), ERR_DEVICE, err,
                 "--query-compute-apps");
}
END_TEST

static const struct {
    const char *spec, *word;
} wrong_specs[] = {
    {"cuda:2", "shows 2 GPUs"},
    {"cuda:99999999999999999999", "shows 2 GPUs"},
    {"cuda:first", "names no GPU"},
    {"cuda:0x0", "names no GPU"},
    {"cuda:-1", "names no GPU"},
    {"cuda:GPU-a", "2 GPUs begin with"},
    {"cuda:GPU-b0", "0 GPUs begin with"},
};

START_TEST(a_gpu_that_is_not_there_is_an_error)
{
    NEED_FAKE();
    struct error err;
    struct device *device;
    ASSERT_FAILS(open_as(wrong_specs[_i].spec, &device, &err), ERR_NO_DEVICE,
                 err, wrong_specs[_i].word);
}
END_TEST

static const struct {
    const char *spec, *opened;
} right_specs[] = {
    {"cuda", "cuda:0"},        {"cuda:", "cuda:0"},
    {"cuda:0", "cuda:0"},      {"cuda:1", "cuda:1"},
    {"cuda:GPU-a1", "cuda:1"}, {"cuda:gpu-A0a1a2a3-a4a5", "cuda:0"},
    {"cuda:MIG-a1", "cuda:1"}, {NULL, "cuda:0"},
};

START_TEST(a_gpu_opens_by_number_and_by_uuid)
{
    NEED_FAKE();
    struct error err;
    struct device *device;
    ASSERT_DONE(open_as(right_specs[_i].spec, &device, &err), err);
    ck_assert_str_eq(device->info.spec, right_specs[_i].opened);
    device_close(device);
}
END_TEST

START_TEST(the_list_tells_name_capability_and_memory)
{
    NEED_FAKE();
    struct error err;
    struct device_entry *list = NULL;
    size_t count = 0;
    ASSERT_DONE(cuda_device_ops.list(&list, &count, &err), err);
    ck_assert_uint_eq(count, 2);
    ck_assert_str_eq(list[1].spec, "cuda:1");
    ck_assert_str_eq(list[1].name, "Fake GPU 1");
    ck_assert_str_eq(list[1].note, "compute capability 9.0, 1.0 GiB");
    free(list);
}
END_TEST

START_TEST(a_broken_driver_is_listed_with_its_reason)
{
    NEED_FAKE();
    struct error err;
    struct device_entry *list = NULL;
    size_t count = 0;
    fake_fail("cuInit", 803, 0);
    ASSERT_DONE(cuda_device_ops.list(&list, &count, &err), err);
    ck_assert_uint_eq(count, 1);
    ck_assert_ptr_nonnull(strstr(list[0].note, "cannot be used"));
    free(list);
}
END_TEST

START_TEST(properties_come_in_the_units_of_their_table)
{
    NEED_FAKE();
    struct device *const device = fake_open(NULL);
    const struct device_info *const info = &device->info;
    ck_assert_str_eq(info->name, "Fake GPU 0");
    ck_assert_str_eq(info->architecture, "Hopper");
    ck_assert_str_eq(info->driver, "13.0");
    ck_assert_str_eq(info->uuid, "GPU-a0a1a2a3-a4a5-a6a7-a8a9-aaabacadaeaf");
    ck_assert_str_eq(info->pci, "0000:1a:00.0");
    ck_assert_double_eq_tol(info->power_limit_w, 700, 0.001);
    ck_assert_int_eq(info->cc_major, 9);
    ck_assert_int_eq(info->value[PROPERTY_SMS], 132);
    ck_assert_int_eq(info->value[PROPERTY_CORES], 128);
    ck_assert_int_eq(info->value[PROPERTY_CLOCK], 1980000000);
    ck_assert_int_eq(info->value[PROPERTY_MEMORY_CLOCK], 3201000000);
    ck_assert_int_eq(info->value[PROPERTY_MEMORY_BYTES], 1 << 30);
    ck_assert_int_eq(info->value[PROPERTY_TEXTURE_WIDTH], 1 << 28);
    ck_assert_int_eq(info->value[PROPERTY_MIG], 0);
    ck_assert_int_eq(info->value[PROPERTY_ECC], 1);
    device_close(device);
}
END_TEST

START_TEST(an_instance_of_a_gpu_is_named_so)
{
    NEED_FAKE();
    setenv("FAKE_NVML_PREFIX", "MIG", 1);
    struct device *const device = fake_open(NULL);
    ck_assert_int_eq(strncmp(device->info.uuid, "MIG-a0", 6), 0);
    ck_assert_int_eq(device->info.value[PROPERTY_MIG], 1);
    device_close(device);
}
END_TEST

START_TEST(sense_leaves_idleness_and_this_process_out)
{
    NEED_FAKE();
    struct error err;
    struct device_sense sense;
    struct device *const device = fake_open(NULL);
    ASSERT_DONE(device_sense(device, &sense, &err), err);
    ck_assert_double_eq(sense.sm_mhz, 1980);
    ck_assert_double_eq(sense.power_w, 123.5);
    ck_assert_uint_eq(sense.throttle, 4);
    ck_assert_int_eq(sense.other_processes, 2);
    device_close(device);
}
END_TEST

START_TEST(what_is_told_of_wires_is_counted)
{
    NEED_FAKE();
    struct error err;
    int64_t told[WIRE_COUNT];
    struct device *const device = fake_open(NULL);
    ASSERT_DONE(device_wires(device, told, &err), err);
    ck_assert_int_eq(told[WIRE_NVLINKS], 5);
    ck_assert_int_eq(told[WIRE_TO_GPUS], 3);
    ck_assert_int_eq(told[WIRE_TO_SWITCHES], 2);
    ck_assert_int_eq(told[WIRE_VERSION], 4);
    ck_assert_int_eq(told[WIRE_PCIE_WIDTH], 8);
    ck_assert_int_eq(told[WIRE_PCIE_WIDTH_MOST], 16);
    ck_assert_int_eq(told[WIRE_PCIE_GENERATION], 5);
    ck_assert_int_eq(told[WIRE_NUMA_NODE], 1);
    device_close(device);
}
END_TEST

/* A call that fails with a code leaves so much untold; 3 is that the GPU has no
 * such thing, which of NVLinks is that there are none. */
static const struct {
    const char *entry;
    int code, links, to_gpus, width;
} untold[] = {
    {"nvmlDeviceGetNvLinkState", 3, 0, 0, 8},
    {"nvmlDeviceGetNvLinkState", 999, -1, -1, 8},
    {"nvmlDeviceGetNvLinkRemoteDeviceType", 999, 5, -1, 8},
    {"nvmlDeviceGetCurrPcieLinkWidth", 3, 5, 3, -1},
};

START_TEST(what_is_not_told_of_wires_is_not_guessed)
{
    NEED_FAKE();
    struct error err;
    int64_t told[WIRE_COUNT];
    fake_fail(untold[_i].entry, untold[_i].code, 0);
    struct device *const device = fake_open(NULL);
    ASSERT_DONE(device_wires(device, told, &err), err);
    ck_assert_int_eq(told[WIRE_NVLINKS], untold[_i].links);
    ck_assert_int_eq(told[WIRE_TO_GPUS], untold[_i].to_gpus);
    ck_assert_int_eq(told[WIRE_PCIE_WIDTH], untold[_i].width);
    device_close(device);
}
END_TEST

START_TEST(a_device_opens_whatever_the_management_library_fails_at)
{
    NEED_FAKE();
    struct error err;
    struct device_sense sense;
    fake_fail(management[_i], 3, 0);
    struct device *const device = fake_open(NULL);
    const int status = device_sense(device, &sense, &err);
    ck_assert(status == 0 || status == ERR_UNSUPPORTED);
    if (strcmp(management[_i], "nvmlDeviceGetClockInfo") == 0)
        ck_assert_double_lt(sense.sm_mhz, 0);
    device_close(device);
}
END_TEST

START_TEST(without_the_management_library_sense_is_unsupported)
{
    NEED_FAKE();
    struct error err;
    struct device_sense sense;
    setenv("SONDE_LIBNVML", "/nowhere/libnvidia-ml.so.1", 1);
    struct device *const device = fake_open(NULL);
    ASSERT_FAILS(device_sense(device, &sense, &err), ERR_UNSUPPORTED, err,
                 "libnvidia-ml.so.1");
    int64_t told[WIRE_COUNT];
    ASSERT_DONE(device_wires(device, told, &err), err);
    ck_assert_int_eq(told[WIRE_NVLINKS], -1);
    ck_assert_int_eq(told[WIRE_PCIE_WIDTH], -1);
    ck_assert_int_eq(device->info.value[PROPERTY_CORES], -1);
    device_close(device);
}
END_TEST

START_TEST(memory_that_is_too_much_says_how_much_there_is)
{
    NEED_FAKE();
    struct error err;
    uint64_t address;
    struct device *const device = fake_open(NULL);
    ASSERT_FAILS(device_allocate(device, 1 << 30, &address, &err),
                 ERR_DEVICE_MEMORY, err, "512.0 MiB of 1024.0 MiB are free");
    ASSERT_DONE(device_allocate(device, 1 << 20, &address, &err), err);
    device_close(device);
}
END_TEST

START_TEST(bytes_come_back_as_they_went)
{
    NEED_FAKE();
    struct error err;
    uint64_t address;
    char out[6] = "";
    struct device *const device = fake_open(NULL);
    ASSERT_DONE(device_allocate(device, 6, &address, &err), err);
    ASSERT_DONE(device_copy_in(device, address, "sonde", 6, &err), err);
    ASSERT_DONE(device_copy_out(device, out, address, 6, &err), err);
    ck_assert_str_eq(out, "sonde");
    device_close(device);
}
END_TEST

START_TEST(a_transfer_moves_bytes_and_tells_its_time)
{
    NEED_FAKE();
    struct error err;
    uint64_t own, host;
    char out[6] = "";
    struct device *const device = fake_open(NULL);
    ASSERT_DONE(device_allocate(device, 6, &own, &err), err);
    ASSERT_DONE(device_allocate_at(device, PLACE_HOST, 6, &host, &err), err);
    memcpy((void *)(uintptr_t)host, "sonde", 6);
    struct transfer t = {.to = own, .from = host, .bytes = 6, .times = 1};
    ASSERT_DONE(device_transfer(device, &t, 1, &err), err);
    ASSERT_DONE(device_copy_out(device, out, own, 6, &err), err);
    ck_assert_str_eq(out, "sonde");
    ck_assert_double_eq(t.began, 0);
    ck_assert_double_eq(t.ended, 250000);
    device_close(device);
    ck_assert_int_eq(fake_count("fake_live"), 0);
}
END_TEST

START_TEST(peers_are_counted_and_reached)
{
    NEED_FAKE();
    struct error err;
    enum device_peer peers[PEERS_MOST];
    size_t count;
    uint64_t own, other;
    char out[6] = "";
    struct device *const device = fake_open(NULL);
    ASSERT_DONE(device_peers(device, peers, &count, &err), err);
    ck_assert_uint_eq(count, 2);
    ck_assert_int_eq(peers[0], PEER_SELF);
    ck_assert_int_eq(peers[1], PEER_ATOMICS);
    ASSERT_DONE(device_allocate(device, 6, &own, &err), err);
    ASSERT_DONE(device_allocate_at(device, PLACE_PEER + 1, 6, &other, &err),
                err);
    ASSERT_DONE(device_copy_in(device, other, "sonde", 6, &err), err);
    struct transfer t = {.to = own, .from = other, .bytes = 6, .times = 1};
    ASSERT_DONE(device_transfer(device, &t, 1, &err), err);
    ASSERT_DONE(device_copy_out(device, out, own, 6, &err), err);
    ck_assert_str_eq(out, "sonde");
    /* By the engine of the other, there and back. */
    struct transfer back = {
        .to = other, .from = own, .bytes = 6, .times = 1, .by_other = true};
    t.by_other = true;
    ASSERT_DONE(device_copy_in(device, own, "links", 6, &err), err);
    ASSERT_DONE(device_transfer(device, &back, 1, &err), err);
    ASSERT_DONE(device_copy_in(device, own, "sonde", 6, &err), err);
    ASSERT_DONE(device_transfer(device, &t, 1, &err), err);
    ASSERT_DONE(device_copy_out(device, out, own, 6, &err), err);
    ck_assert_str_eq(out, "links");
    ck_assert(!t.none && !back.none);
    device_release(device, own);
    device_close(device);
    ck_assert_int_eq(fake_count("fake_live"), 0);
    ck_assert_int_eq(fake_count("fake_swept"), 0);
}
END_TEST

/* What goes on between two others, while this one is sent something. */
START_TEST(copies_between_other_gpus_go_on_meanwhile)
{
    NEED_FAKE();
    struct error err;
    enum device_peer peers[PEERS_MOST];
    size_t count;
    uint64_t own, one, two;
    char out[6] = "";
    setenv("FAKE_CUDA_GPUS", "3", 1);
    struct device *const device = fake_open(NULL);
    ASSERT_DONE(device_peers(device, peers, &count, &err), err);
    ck_assert_uint_eq(count, 3);
    ck_assert_int_eq(peers[2], PEER_REACHED);
    ASSERT_DONE(device_allocate(device, 6, &own, &err), err);
    ASSERT_DONE(device_allocate_at(device, PLACE_PEER + 1, 6, &one, &err), err);
    ASSERT_DONE(device_allocate_at(device, PLACE_PEER + 2, 6, &two, &err), err);
    ASSERT_DONE(device_copy_in(device, one, "sonde", 6, &err), err);
    struct transfer t[] = {{.to = own, .from = two, .bytes = 6, .times = 1},
                           {.to = two, .from = one, .bytes = 6, .times = 3}};
    for (int again = 0; again < 2; again++)
        ASSERT_DONE(device_transfer(device, t, 2, &err), err);
    ASSERT_DONE(device_copy_out(device, out, own, 6, &err), err);
    ck_assert_str_eq(out, "sonde");
    ck_assert(!t[0].none && !t[1].none);
    ck_assert_double_eq(t[0].ended, 250000);
    /* The fake driver is done at once: it did not outlast the other. */
    ck_assert_double_lt(t[1].ended, t[0].ended);
    device_release(device, own);
    device_close(device);
    ck_assert_int_eq(fake_count("fake_live"), 0);
    ck_assert_int_eq(fake_count("fake_swept"), 0);
}
END_TEST

/* Three GPUs, whose copies take 2 ms each, by engines that do one after the
 * other; what has an end at the first is timed beside others. */
struct crowd {
    struct device *device;
    uint64_t own, own_too, one, two;
};

static struct crowd crowd_open(void)
{
    struct error err;
    struct crowd c;
    setenv("FAKE_CUDA_GPUS", "3", 1);
    setenv("FAKE_CUDA_COPY_MS", "2", 1);
    c.device = fake_open(NULL);
    ASSERT_DONE(device_allocate(c.device, 6, &c.own, &err), err);
    ASSERT_DONE(device_allocate(c.device, 6, &c.own_too, &err), err);
    ASSERT_DONE(device_allocate_at(c.device, PLACE_PEER + 1, 6, &c.one, &err),
                err);
    ASSERT_DONE(device_allocate_at(c.device, PLACE_PEER + 2, 6, &c.two, &err),
                err);
    return c;
}

static void crowd_close(const struct crowd *c)
{
    device_release(c->device, c->own);
    device_release(c->device, c->own_too);
    device_close(c->device);
    ck_assert_int_eq(fake_count("fake_live"), 0);
    ck_assert_int_eq(fake_count("fake_swept"), 0);
}

enum { TIMED = 4, MEANWHILE = 7 };

/* Copies of the first take 2 ms while the others go on. */
static void expect_at_once(const struct crowd *c, struct transfer *t,
                           size_t count)
{
    struct error err;
    for (size_t i = 0; i < count; i++) {
        t[i].bytes = 6;
        t[i].times = i == 0 ? TIMED : MEANWHILE;
    }
    ASSERT_DONE(device_transfer(c->device, t, count, &err), err);
    ck_assert_double_eq_tol(t[0].ended - t[0].began, 2e6 * TIMED, 1);
    for (size_t i = 1; i < count; i++)
        ck_assert_msg(t[i].ended > t[0].ended, "%zu", i);
}

START_TEST(copies_of_both_ways_go_by_two_engines)
{
    NEED_FAKE();
    const struct crowd c = crowd_open();
    struct transfer in[] = {{.to = c.own, .from = c.one},
                            {.to = c.one, .from = c.own_too}};
    struct transfer out[] = {{.to = c.one, .from = c.own},
                             {.to = c.own_too, .from = c.one}};
    expect_at_once(&c, in, 2);
    expect_at_once(&c, out, 2);
    crowd_close(&c);
}
END_TEST

START_TEST(copies_to_one_and_from_one_go_by_an_engine_each)
{
    NEED_FAKE();
    const struct crowd c = crowd_open();
    struct transfer in[] = {{.to = c.own, .from = c.one},
                            {.to = c.own_too, .from = c.two}};
    struct transfer out[] = {{.to = c.one, .from = c.own},
                             {.to = c.two, .from = c.own}};
    expect_at_once(&c, in, 2);
    expect_at_once(&c, out, 2);
    crowd_close(&c);
}
END_TEST

/* Each of three sends to two: by its engine in turns, so half of the time. */
START_TEST(copies_of_all_pairs_take_turns)
{
    NEED_FAKE();
    struct error err;
    const struct crowd c = crowd_open();
    struct transfer t[] = {
        {.to = c.own, .from = c.one},     {.to = c.two, .from = c.one},
        {.to = c.own_too, .from = c.two}, {.to = c.one, .from = c.two},
        {.to = c.one, .from = c.own_too}, {.to = c.two, .from = c.own_too},
    };
    for (size_t i = 0; i < COUNT_OF(t); i++) {
        t[i].bytes = 6;
        t[i].times = i == 0 ? TIMED : MEANWHILE;
    }
    ASSERT_DONE(device_transfer(c.device, t, COUNT_OF(t), &err), err);
    ck_assert_double_eq_tol(t[0].ended - t[0].began, 2 * 2e6 * TIMED, 1);
    for (size_t i = 1; i < COUNT_OF(t); i++)
        ck_assert_msg(t[i].ended > t[0].ended, "%zu", i);
    crowd_close(&c);
}
END_TEST

/* The fewer make an end before what is timed: that is told. */
START_TEST(copies_that_end_too_early_are_told)
{
    NEED_FAKE();
    struct error err;
    const struct crowd c = crowd_open();
    struct transfer t[] = {
        {.to = c.own, .from = c.one, .bytes = 6, .times = TIMED},
        {.to = c.one, .from = c.own_too, .bytes = 6, .times = TIMED - 1}};
    ASSERT_DONE(device_transfer(c.device, t, 2, &err), err);
    ck_assert_double_lt(t[1].ended, t[0].ended);
    crowd_close(&c);
}
END_TEST

/* Of two that would measure what GPUs share one waits, and says for whom. */
START_TEST(what_gpus_share_is_one_process_s_at_a_time)
{
    NEED_FAKE();
    struct error err;
    struct device *const one = fake_open(NULL);
    ASSERT_DONE(device_claim(one, &err), err);
    ASSERT_DONE(device_claim(one, &err), err);
    struct device *const two = fake_open(NULL);
    two->until = now_seconds() + 0.05;
    ck_assert_int_eq(device_claim(two, &err), ERR_UNSUPPORTED);
    ck_assert_ptr_nonnull(strstr(err.text, "another sonde"));
    device_let_go(one);
    ASSERT_DONE(device_claim(two, &err), err);
    device_close(two);
    ASSERT_DONE(device_claim(one, &err), err);
    device_close(one);
}
END_TEST

/* Whoever is about to start disturbs: it is waited for, until it launches, or
 * waits, too. */
START_TEST(who_starts_is_waited_for)
{
    NEED_FAKE();
    struct error err;
    struct device *const one = fake_open(NULL), *const two = fake_open(NULL);
    one->until = now_seconds() + 0.1;
    const double began = now_seconds();
    ASSERT_DONE(device_claim(one, &err), err);
    ck_assert_double_ge(now_seconds() - began, 0.1);
    device_let_go(one);
    ASSERT_DONE(device_claim(two, &err), err);
    device_let_go(two);
    one->until = now_seconds() + 5;
    const double again = now_seconds();
    ASSERT_DONE(device_claim(one, &err), err);
    ck_assert_double_lt(now_seconds() - again, 1);
    device_close(two);
    device_close(one);
}
END_TEST

START_TEST(a_fault_of_a_transfer_is_named_and_the_device_is_dead)
{
    NEED_FAKE();
    struct error err;
    uint64_t own, host;
    struct device *const device = fake_open(NULL);
    ASSERT_DONE(device_allocate(device, 6, &own, &err), err);
    ASSERT_DONE(device_allocate_at(device, PLACE_HOST, 6, &host, &err), err);
    struct transfer t = {.to = own, .from = host, .bytes = 6, .times = 1};
    fake_fail("cuEventQuery", 700, 0);
    ASSERT_FAILS(device_transfer(device, &t, 1, &err), ERR_DEVICE, err,
                 "a copy");
    ck_assert(device->lost);
    device_close(device);
}
END_TEST

START_TEST(a_launch_tells_its_time_and_only_a_launch_does)
{
    NEED_FAKE();
    struct error err;
    double ns;
    struct device *const device = fake_open(NULL);
    ASSERT_FAILS(device_elapsed(device, &ns, &err), ERR_USAGE, err, "launch");
    struct kernel *const kernel = fake_kernel(device);
    ASSERT_DONE(device_launch(device, kernel, &plain, &err), err);
    ASSERT_DONE(device_elapsed(device, &ns, &err), err);
    ck_assert_double_eq(ns, 250000);
    device_close(device);
}
END_TEST

START_TEST(a_slow_kernel_within_its_deadline_succeeds)
{
    NEED_FAKE();
    struct error err;
    setenv("FAKE_CUDA_SLOW_MS", "50", 1);
    struct device *const device = fake_open(NULL);
    struct kernel *const kernel = fake_kernel(device);
    device->ticket = stop_ticket();
    stop_request(); /* the wish to stop does not end a wait */
    const double begun = now_seconds();
    ASSERT_DONE(device_launch(device, kernel, &plain, &err), err);
    ck_assert_double_ge(now_seconds() - begun, 0.05);
    device_close(device);
}
END_TEST

START_TEST(a_hung_kernel_ends_at_its_deadline_and_close_returns)
{
    NEED_FAKE();
    struct error err;
    uint64_t address = 0, bytes;
    setenv("FAKE_CUDA_HANG", "1", 1);
    struct device *const device = fake_open(NULL);
    struct kernel *const kernel = fake_kernel(device);
    struct launch launch = plain;
    launch.deadline_s = 0.2;
    ASSERT_DONE(device_allocate(device, 64, &address, &err), err);
    const double begun = now_seconds();
    ASSERT_FAILS(device_launch(device, kernel, &launch, &err), ERR_DEADLINE,
                 err, "kernel 'chase'");
    ck_assert_double_ge(now_seconds() - begun, 0.2);
    ck_assert_double_lt(now_seconds() - begun, 2);
    ASSERT_FAILS(device_memory_free(device, &bytes, &err), ERR_DEADLINE, err,
                 "can no longer be used");
    ASSERT_FAILS(device_launch(device, kernel, &launch, &err), ERR_DEADLINE,
                 err, "can no longer be used");
    device_release(device, address);
    device_close(device);
}
END_TEST

START_TEST(a_fault_is_named_and_the_device_is_dead)
{
    NEED_FAKE();
    struct error err;
    uint64_t address;
    setenv("FAKE_CUDA_FAULT", "700", 1);
    struct device *const device = fake_open(NULL);
    struct kernel *const kernel = fake_kernel(device);
    ASSERT_FAILS(device_launch(device, kernel, &plain, &err), ERR_DEVICE, err,
                 "kernel 'chase' failed: an illegal memory access");
    ASSERT_FAILS(device_allocate(device, 64, &address, &err), ERR_DEVICE, err,
                 "can no longer be used");
    device_close(device);
    ck_assert_int_eq(fake_count("fake_live"), 0);
}
END_TEST

START_TEST(a_kernel_whose_end_is_not_known_is_taken_to_run_on)
{
    NEED_FAKE();
    struct error err;
    uint64_t bytes;
    fake_fail("cuEventQuery", 999, 0);
    struct device *const device = fake_open(NULL);
    struct kernel *const kernel = fake_kernel(device);
    ASSERT_FAILS(device_launch(device, kernel, &plain, &err), ERR_DEVICE, err,
                 "kernel 'chase'");
    ASSERT_FAILS(device_memory_free(device, &bytes, &err), ERR_DEVICE, err,
                 "can no longer be used");
    device_close(device);
    ck_assert_int_gt(fake_count("fake_live"), 0);
}
END_TEST

START_TEST(a_new_context_serves_after_a_fault)
{
    NEED_FAKE();
    struct error err;
    setenv("FAKE_CUDA_FAULT", "719", 1);
    struct device *device = fake_open(NULL);
    ASSERT_FAILS(device_launch(device, fake_kernel(device), &plain, &err),
                 ERR_DEVICE, err, "chase");
    device_close(device);
    unsetenv("FAKE_CUDA_FAULT");
    device = fake_open(NULL);
    ASSERT_DONE(device_launch(device, fake_kernel(device), &plain, &err), err);
    device_close(device);
}
END_TEST

static void add_opening(TCase *tests)
{
    tcase_add_test(tests, a_missing_driver_is_no_device_and_an_empty_list);
    tcase_add_loop_test(
        tests, a_driver_without_an_entry_point_is_refused_or_lived_with, 0,
        ENTRIES);
    tcase_add_test(tests, an_old_driver_is_told_its_age);
    tcase_add_test(tests, prohibited_mode_names_the_command_that_ends_it);
    tcase_add_loop_test(tests, a_driver_that_cannot_start_says_what_to_do, 0,
                        COUNT_OF(start_failures));
    tcase_add_test(tests, a_busy_gpu_says_how_to_find_who_holds_it);
    tcase_add_loop_test(tests, a_gpu_that_is_not_there_is_an_error, 0,
                        COUNT_OF(wrong_specs));
    tcase_add_loop_test(tests, a_gpu_opens_by_number_and_by_uuid, 0,
                        COUNT_OF(right_specs));
    tcase_add_test(tests, the_list_tells_name_capability_and_memory);
    tcase_add_test(tests, a_broken_driver_is_listed_with_its_reason);
}

static void add_failures(TCase *tests)
{
    tcase_add_test(tests, all_works_and_all_is_given_back);
    tcase_add_loop_test(
        tests, each_failure_is_an_error_that_names_its_entry_point, 0, ENTRIES);
    tcase_add_loop_test(tests, no_failure_of_any_kind_leaks_or_crashes, 0,
                        ENTRIES * (int)COUNT_OF(codes));
    tcase_add_loop_test(tests, a_failure_at_a_later_call_leaks_nothing, 0,
                        ENTRIES * 3);
}

static void add_reports(TCase *tests)
{
    tcase_add_test(tests, properties_come_in_the_units_of_their_table);
    tcase_add_test(tests, an_instance_of_a_gpu_is_named_so);
    tcase_add_test(tests, sense_leaves_idleness_and_this_process_out);
    tcase_add_loop_test(tests,
                        a_device_opens_whatever_the_management_library_fails_at,
                        0, MANAGEMENT);
    tcase_add_test(tests, without_the_management_library_sense_is_unsupported);
}

static void add_launches(TCase *tests)
{
    tcase_add_test(tests, aliases_are_one_memory);
    tcase_add_test(tests, aliases_differ_as_their_distances);
    tcase_add_test(tests, some_aliases_alone_are_mapped);
    tcase_add_loop_test(tests, a_driver_that_cannot_map_says_so, 0, 3);
    tcase_add_test(tests, mapping_is_undone_where_it_fails_or_is_stopped);
    tcase_add_test(tests, clusters_are_unsupported_where_the_driver_lacks_them);
    tcase_add_test(tests, memory_that_is_too_much_says_how_much_there_is);
    tcase_add_test(tests, bytes_come_back_as_they_went);
    tcase_add_test(tests, a_transfer_moves_bytes_and_tells_its_time);
    tcase_add_test(tests, peers_are_counted_and_reached);
    tcase_add_test(tests, copies_between_other_gpus_go_on_meanwhile);
    tcase_add_test(tests, who_starts_is_waited_for);
    tcase_add_test(tests, copies_of_both_ways_go_by_two_engines);
    tcase_add_test(tests, copies_to_one_and_from_one_go_by_an_engine_each);
    tcase_add_test(tests, copies_of_all_pairs_take_turns);
    tcase_add_test(tests, copies_that_end_too_early_are_told);
    tcase_add_test(tests, what_is_told_of_wires_is_counted);
    tcase_add_loop_test(tests, what_is_not_told_of_wires_is_not_guessed, 0,
                        (int)COUNT_OF(untold));
    tcase_add_test(tests, what_gpus_share_is_one_process_s_at_a_time);
    tcase_add_test(tests,
                   a_fault_of_a_transfer_is_named_and_the_device_is_dead);
    tcase_add_test(tests, a_launch_tells_its_time_and_only_a_launch_does);
    tcase_add_test(tests, a_slow_kernel_within_its_deadline_succeeds);
    tcase_add_test(tests, a_hung_kernel_ends_at_its_deadline_and_close_returns);
    tcase_add_test(tests, a_fault_is_named_and_the_device_is_dead);
    tcase_add_test(tests, a_kernel_whose_end_is_not_known_is_taken_to_run_on);
    tcase_add_test(tests, a_new_context_serves_after_a_fault);
}

Suite *suite_driver(void)
{
    TCase *tests;
    Suite *const suite = suite_of("driver", 20, &tests);
    add_opening(tests);
    add_failures(tests);
    add_reports(tests);
    add_launches(tests);
    return suite;
}
