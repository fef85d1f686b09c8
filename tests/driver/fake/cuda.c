/*
 * A libcuda.so.1 without a GPU: memory is the host's, machine code is the PTX
 * behind an ELF's first bytes, a launch does nothing.  What it holds for its
 * callers it counts, so that a test can ask whether all was given back, and it
 * fails, faults and hangs on demand:
 *
 *   FAKE_CUDA_FAIL     see fail.h
 *   FAKE_CUDA_FAULT    a launch makes this the answer of all that follows
 *   FAKE_CUDA_HANG     a launch never ends, and most calls then never return
 *   FAKE_CUDA_SLOW_MS  a launch takes so long
 *   FAKE_CUDA_LINK_MS  so does a link
 *   FAKE_CUDA_COPY_MS  so does a copy of a stream (0), of a time that passes
 *                      only where it is waited for: a context has a copy engine
 *                      for each way to the host and one for other GPUs, and
 *                      each does one copy after the other: all that a stream
 *                      has, and then those of the next
 *   FAKE_CUDA_GPUS     how many there are (2)
 *   FAKE_CUDA_VERSION  of CUDA (13000)
 *   FAKE_CUDA_MODE     the compute mode (0)
 */
#include "device/cuda/library/driver.h"

#include <pthread.h>
#include <stdio.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

#include "fail.h"

#define ENTRY(need, name, arguments) int name arguments;
#include "device/cuda/library/driver.def"
#undef ENTRY

/* For tests to read: links made, objects held, objects that only the end of
 * the context gave back. */
extern atomic_int fake_links, fake_live, fake_swept;
atomic_int fake_links, fake_live, fake_swept;

enum {
    OK,
    INVALID_VALUE = 1,
    NO_CONTEXT = 201,
    BAD_HANDLE = 400,
    ABSENT = 500
};

static const size_t memory_bytes = (size_t)1 << 30;
enum { GRANULE = 2 << 20 };

enum kind {
    CONTEXT,
    LINK,
    MODULE,
    FUNCTION,
    MEMORY,
    TEXTURE,
    EVENT,
    STREAM,
    PINNED,
    RESERVED, /* addresses */
    MAPPABLE,
    MAPPED
};

enum copy_engine { TO_GPU, FROM_GPU, TO_PEERS };

struct object {
    struct object *next;
    enum kind kind;
    char *data; /* memory; PTX of links; machine code of modules */
    char *log;
    uint64_t at, bytes; /* RESERVED, MAPPED */
    int file;           /* MAPPABLE */
    /* STREAM, EVENT: its context, and when what it had before is done; CONTEXT:
     * when its copy engines are. */
    struct object *context;
    double done, engines[3];
    const void *at_stream[3]; /* by the last copy */
};

static struct object *objects;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static _Thread_local void *current;
static atomic_bool launched;
static struct timespec launch_time;

/* A number of the environment, or what it is without. */
static int fake_setting(const char *name, int without)
{
    const char *const text = getenv(name);
    return text != NULL ? atoi(text) : without;
}

static struct object *object_new(enum kind kind, size_t bytes)
{
    struct object *const object = calloc(1, sizeof *object);
    object->kind = kind;
    object->data = calloc(1, bytes + 1);
    pthread_mutex_lock(&lock);
    object->next = objects;
    objects = object;
    pthread_mutex_unlock(&lock);
    fake_live++;
    return object;
}

static void object_free(struct object *object)
{
    free(object->data);
    free(object);
    fake_live--;
}

static bool is_object(const struct object *object, enum kind kind)
{
    pthread_mutex_lock(&lock);
    const struct object *at = objects;
    while (at != NULL && (at != object || at->kind != kind))
        at = at->next;
    pthread_mutex_unlock(&lock);
    return at != NULL;
}

static int object_end(void *handle, enum kind kind)
{
    pthread_mutex_lock(&lock);
    struct object **at = &objects;
    while (*at != NULL && (*at != handle || (*at)->kind != kind))
        at = &(*at)->next;
    struct object *const found = *at;
    if (found != NULL)
        *at = found->next;
    pthread_mutex_unlock(&lock);
    if (found == NULL)
        return BAD_HANDLE;
    object_free(found);
    return OK;
}

/* What is left goes with the last context. */
static void sweep(void)
{
    for (const struct object *at = objects; at != NULL; at = at->next)
        if (at->kind == CONTEXT)
            return;
    while (objects != NULL) {
        struct object *const object = objects;
        objects = object->next;
        if (object->kind != FUNCTION)
            fake_swept++;
        object_free(object);
    }
}

static bool hangs(void)
{
    return launched && fake_setting("FAKE_CUDA_HANG", 0) != 0;
}

static void hang(void)
{
    while (hangs())
        pause();
}

static int fault(void)
{
    return launched ? fake_setting("FAKE_CUDA_FAULT", 0) : 0;
}

/* The beginning of every entry point; those that need a context have IN. */
#define OUT(name)                                                              \
    do {                                                                       \
        const int failure = fake_failure(#name);                               \
        if (failure != 0)                                                      \
            return failure;                                                    \
    } while (0)
#define IN(name)                                                               \
    do {                                                                       \
        OUT(name);                                                             \
        if (current == NULL)                                                   \
            return NO_CONTEXT;                                                 \
        if (fault() != 0)                                                      \
            return fault();                                                    \
    } while (0)

int cuGetErrorName(int code, const char **text)
{
    OUT(cuGetErrorName);
    static _Thread_local char name[32];
    snprintf(name, sizeof name, "CUDA_ERROR_%d", code);
    *text = name;
    return OK;
}

int cuGetErrorString(int code, const char **text)
{
    OUT(cuGetErrorString);
    *text = code == CUDA_ILLEGAL_ADDRESS ? "an illegal memory access was "
                                           "encountered"
                                         : "something went wrong";
    return OK;
}

int cuDriverGetVersion(int *version)
{
    OUT(cuDriverGetVersion);
    *version = fake_setting("FAKE_CUDA_VERSION", 13000);
    return OK;
}

int cuInit(unsigned flags)
{
    OUT(cuInit);
    return flags == 0 ? OK : INVALID_VALUE;
}

int cuDeviceGetCount(int *count)
{
    OUT(cuDeviceGetCount);
    *count = fake_setting("FAKE_CUDA_GPUS", 2);
    return OK;
}

int cuDeviceGet(int *device, int ordinal)
{
    OUT(cuDeviceGet);
    *device = 100 + ordinal;
    return OK;
}

int cuDeviceGetName(char *name, int size, int device)
{
    OUT(cuDeviceGetName);
    snprintf(name, (size_t)size, "Fake GPU %d", device - 100);
    return OK;
}

/* Those of an H200, as far as a test looks at them. */
int cuDeviceGetAttribute(int *value, int attribute, int device)
{
    OUT(cuDeviceGetAttribute);
    (void)device;
    static const int values[][2] = {
        {16, 132}, {13, 1980000}, {36, 3201000}, {38, 62914560}, {10, 32},
        {75, 9},   {76, 0},       {97, 232448},  {120, 1},       {69, 1 << 27},
    };
    *value = 1;
    if (attribute == CUDA_COMPUTE_MODE)
        *value = fake_setting("FAKE_CUDA_MODE", 0);
    for (size_t i = 0; i < sizeof values / sizeof *values; i++)
        if (values[i][0] == attribute)
            *value = values[i][1];
    return OK;
}

int cuDeviceTotalMem_v2(size_t *bytes, int device)
{
    OUT(cuDeviceTotalMem_v2);
    (void)device;
    *bytes = memory_bytes;
    return OK;
}

int cuDeviceGetPCIBusId(char *text, int size, int device)
{
    OUT(cuDeviceGetPCIBusId);
    snprintf(text, (size_t)size, "0000:%02X:00.0", 0x1a + device - 100);
    return OK;
}

int cuDeviceGetUuid_v2(unsigned char *uuid, int device)
{
    OUT(cuDeviceGetUuid_v2);
    for (int i = 0; i < 16; i++)
        uuid[i] = (unsigned char)(0xa0 + (i == 0 ? device - 100 : i));
    return OK;
}

int cuDeviceGetTexture1DLinearMaxWidth(size_t *texels, int format,
                                       unsigned channels, int device)
{
    OUT(cuDeviceGetTexture1DLinearMaxWidth);
    (void)device;
    *texels = format == CUDA_FORMAT_UINT32 && channels == 1 ? 1 << 28 : 0;
    return OK;
}

int cuCtxCreate_v2(void **context, unsigned flags, int device)
{
    OUT(cuCtxCreate_v2);
    (void)flags, (void)device;
    *context = current = object_new(CONTEXT, 0);
    return OK;
}

int cuDeviceCanAccessPeer(int *can, int device, int peer)
{
    IN(cuDeviceCanAccessPeer);
    *can = device != peer;
    return OK;
}

/* Atomics go over all links but those to GPU 2. */
int cuDeviceGetP2PAttribute(int *value, int attribute, int device, int peer)
{
    OUT(cuDeviceGetP2PAttribute);
    *value = attribute == 3 && device != peer && peer != 102 && device != 102;
    return OK;
}

/* By the context that is current, to that of another GPU. */
int cuCtxEnablePeerAccess(void *context, unsigned flags)
{
    IN(cuCtxEnablePeerAccess);
    return is_object(context, CONTEXT) && context != current && flags == 0
               ? OK
               : INVALID_VALUE;
}

int cuCtxDestroy_v2(void *context)
{
    hang();
    const int status = object_end(context, CONTEXT);
    sweep();
    launched = false;
    current = NULL;
    OUT(cuCtxDestroy_v2);
    return status;
}

int cuCtxSetCurrent(void *context)
{
    OUT(cuCtxSetCurrent);
    if (!is_object(context, CONTEXT))
        return NO_CONTEXT;
    current = context;
    return OK;
}

int cuCtxGetLimit(size_t *value, int limit)
{
    IN(cuCtxGetLimit);
    (void)limit;
    *value = 64;
    return OK;
}

int cuCtxSetLimit(int limit, size_t value)
{
    IN(cuCtxSetLimit);
    (void)limit;
    (void)value;
    return OK;
}

int cuLinkCreate_v2(unsigned count, int *options, void **values, void **state)
{
    IN(cuLinkCreate_v2);
    struct object *const link = object_new(LINK, 0);
    for (unsigned i = 0; i < count; i++)
        if (options[i] == CUDA_JIT_ERROR_LOG)
            link->log = values[i];
    *state = link;
    return OK;
}

/* The assembler knows one word that is wrong. */
static int find_bogus(const struct object *link, const char *ptx)
{
    const char *const bogus = strstr(ptx, "bogus");
    if (bogus == NULL)
        return OK;
    int line = 1;
    for (const char *at = ptx; at < bogus; at++)
        line += *at == '\n';
    sprintf(link->log,
            "ptxas application ptx input, line %d; error   : Not a name of any "
            "known instruction: 'bogus'\n"
            "ptxas fatal   : Ptx assembly aborted due to errors\n",
            line);
    return CUDA_INVALID_PTX;
}

int cuLinkAddData_v2(void *state, int type, void *data, size_t size,
                     const char *name, unsigned count, int *options,
                     void **values)
{
    IN(cuLinkAddData_v2);
    (void)name, (void)count, (void)options, (void)values;
    struct object *const link = state;
    if (!is_object(link, LINK) || type != CUDA_JIT_INPUT_PTX)
        return BAD_HANDLE;
    free(link->data);
    link->data = malloc(size + 4);
    memcpy(link->data, "\177ELF", 4);
    memcpy(link->data + 4, data, size);
    return find_bogus(link, data);
}

int cuLinkComplete(void *state, void **cubin, size_t *size)
{
    IN(cuLinkComplete);
    const struct object *const link = state;
    if (!is_object(link, LINK))
        return BAD_HANDLE;
    usleep(1000 * (unsigned)fake_setting("FAKE_CUDA_LINK_MS", 0));
    fake_links++;
    *cubin = link->data;
    *size = strlen(link->data) + 1;
    return OK;
}

int cuLinkDestroy(void *state)
{
    const int status = object_end(state, LINK);
    OUT(cuLinkDestroy);
    return status;
}

int cuModuleLoadData(void **module, const void *image)
{
    IN(cuModuleLoadData);
    if (memcmp(image, "\177ELF", 4) != 0)
        return CUDA_INVALID_IMAGE;
    struct object *const object = object_new(MODULE, strlen(image));
    strcpy(object->data, image);
    *module = object;
    return OK;
}

int cuModuleUnload(void *module)
{
    hang();
    const int status = object_end(module, MODULE);
    OUT(cuModuleUnload);
    return status;
}

int cuModuleGetFunction(void **function, void *module, const char *name)
{
    IN(cuModuleGetFunction);
    if (!is_object(module, MODULE))
        return BAD_HANDLE;
    if (strstr(((struct object *)module)->data, name) == NULL)
        return ABSENT;
    *function = object_new(FUNCTION, 0);
    return OK;
}

int cuModuleGetGlobal_v2(uint64_t *address, size_t *bytes, void *module,
                         const char *name)
{
    IN(cuModuleGetGlobal_v2);
    if (!is_object(module, MODULE))
        return BAD_HANDLE;
    char *const found = strstr(((struct object *)module)->data, name);
    *address = (uintptr_t)found;
    *bytes = 4;
    return found != NULL ? OK : ABSENT;
}

int cuFuncSetAttribute(void *function, int attribute, int value)
{
    IN(cuFuncSetAttribute);
    (void)attribute, (void)value;
    return is_object(function, FUNCTION) ? OK : BAD_HANDLE;
}

int cuMemGetInfo_v2(size_t *free_bytes, size_t *total)
{
    IN(cuMemGetInfo_v2);
    *free_bytes = memory_bytes / 2;
    *total = memory_bytes;
    return OK;
}

int cuMemAlloc_v2(uint64_t *address, size_t bytes)
{
    IN(cuMemAlloc_v2);
    if (bytes == 0)
        return INVALID_VALUE;
    if (bytes > memory_bytes / 2)
        return CUDA_OUT_OF_MEMORY;
    *address = (uintptr_t)object_new(MEMORY, bytes)->data;
    return OK;
}

static struct object *memory_at(uint64_t address)
{
    pthread_mutex_lock(&lock);
    struct object *at = objects;
    while (at != NULL && (uintptr_t)at->data != address)
        at = at->next;
    pthread_mutex_unlock(&lock);
    return at;
}

int cuMemFree_v2(uint64_t address)
{
    hang();
    const int status = object_end(memory_at(address), MEMORY);
    OUT(cuMemFree_v2);
    return status;
}

int cuMemcpyHtoD_v2(uint64_t to, const void *from, size_t bytes)
{
    IN(cuMemcpyHtoD_v2);
    hang();
    memcpy((void *)(uintptr_t)to, from, bytes);
    return OK;
}

int cuMemcpyDtoH_v2(void *to, uint64_t from, size_t bytes)
{
    IN(cuMemcpyDtoH_v2);
    hang();
    memcpy(to, (void *)(uintptr_t)from, bytes);
    return OK;
}

/* ---- the host's memory, streams ---- */

int cuMemHostAlloc(void **memory, size_t bytes, unsigned flags)
{
    IN(cuMemHostAlloc);
    *memory = object_new(PINNED, bytes)->data;
    return flags == 3 ? OK : INVALID_VALUE;
}

int cuMemFreeHost(void *memory)
{
    const int status = object_end(memory_at((uintptr_t)memory), PINNED);
    OUT(cuMemFreeHost);
    return status;
}

/* ---- what streams do ---- */

/* Of copies, ms. */
static double now_ms;

/* What a stream is asked, in the order of asking. */
enum act { COPY, RECORD, WAIT };
struct asked {
    struct asked *next;
    enum act act;
    struct object *stream, *event;
    enum copy_engine engine;
    double at, ms;
};
static struct asked *queue;

static void ask(struct asked what)
{
    struct asked **link = &queue;
    while (*link != NULL)
        link = &(*link)->next;
    *link = malloc(sizeof **link);
    **link = what;
    (*link)->next = NULL;
    (*link)->at = now_ms;
}

static void answered(struct asked *what)
{
    struct asked **link = &queue;
    while (*link != what)
        link = &(*link)->next;
    *link = what->next;
    free(what);
}

static bool is_first(const struct asked *what)
{
    const struct asked *a = queue;
    while (a->stream != what->stream)
        a = a->next;
    return a == what;
}

static bool is_recorded(const struct object *event)
{
    for (const struct asked *a = queue; a != NULL; a = a->next)
        if (a->act == RECORD && a->event == event)
            return false;
    return true;
}

/* True if it was not a copy, nor had to wait. */
static bool pass(struct asked *a)
{
    struct object *const s = a->stream, *const e = a->event;
    if (a->act == COPY || (a->act == WAIT && !is_recorded(e)))
        return false;
    s->done = s->done > a->at ? s->done : a->at;
    if (a->act == RECORD)
        e->done = s->done;
    else
        s->done = e->done > s->done ? e->done : s->done;
    answered(a);
    return true;
}

static double begins(const struct asked *a)
{
    const struct object *const s = a->stream;
    const double free_at = s->context->engines[a->engine];
    const double ready = s->done > a->at ? s->done : a->at;
    return free_at > ready ? free_at : ready;
}

/* An engine goes on with the stream that it is at, as long as that has copies,
 * like those of real ones. */
static bool comes_before(const struct asked *a, const struct asked *b)
{
    const bool goes_on = a->stream->context->at_stream[a->engine] == a->stream;
    return b == NULL || begins(a) < begins(b) ||
           (!(begins(a) > begins(b)) && goes_on);
}

static bool pass_any(void)
{
    for (struct asked *a = queue; a != NULL; a = a->next)
        if (is_first(a) && pass(a))
            return true;
    return false;
}

/* All that was asked. */
static void settle(void)
{
    while (queue != NULL) {
        struct asked *next = NULL;
        if (pass_any())
            continue;
        for (struct asked *a = queue; a != NULL; a = a->next)
            if (a->act == COPY && is_first(a) && comes_before(a, next))
                next = a;
        if (next == NULL)
            abort(); /* streams wait for each other */
        struct object *const s = next->stream, *const context = s->context;
        s->done = begins(next) + next->ms;
        context->engines[next->engine] = s->done;
        context->at_stream[next->engine] = s;
        answered(next);
    }
}

int cuStreamCreate(void **stream, unsigned flags)
{
    IN(cuStreamCreate);
    struct object *const made = object_new(STREAM, 0);
    made->context = current;
    *stream = made;
    return flags == 1 ? OK : INVALID_VALUE;
}

int cuStreamDestroy_v2(void *stream)
{
    settle();
    const int status = object_end(stream, STREAM);
    OUT(cuStreamDestroy_v2);
    return status;
}

/* By a stream of the context that is current. */
static int copy_by(enum copy_engine engine, uint64_t to, uint64_t from,
                   size_t bytes, struct object *stream)
{
    if (!is_object(stream, STREAM) || stream->context != current)
        return BAD_HANDLE;
    ask((struct asked){.act = COPY,
                       .stream = stream,
                       .engine = engine,
                       .ms = fake_setting("FAKE_CUDA_COPY_MS", 0)});
    memcpy((void *)(uintptr_t)to, (const void *)(uintptr_t)from, bytes);
    return OK;
}

int cuMemcpyAsync(uint64_t to, uint64_t from, size_t bytes, void *stream)
{
    IN(cuMemcpyAsync);
    const bool to_gpu = is_object(memory_at(to), MEMORY),
               from_gpu = is_object(memory_at(from), MEMORY);
    return copy_by(!from_gpu ? TO_GPU
                   : !to_gpu ? FROM_GPU
                             : TO_PEERS,
                   to, from, bytes, stream);
}

/* One of the two is that of the stream. */
int cuMemcpyPeerAsync(uint64_t to, void *to_context, uint64_t from,
                      void *from_context, size_t bytes, void *stream)
{
    IN(cuMemcpyPeerAsync);
    if (!is_object(to_context, CONTEXT) || !is_object(from_context, CONTEXT) ||
        (from_context != current && to_context != current) ||
        to_context == from_context)
        return INVALID_VALUE;
    return copy_by(TO_PEERS, to, from, bytes, stream);
}

/* ---- memory at several addresses: that of a file ---- */

int cuMemGetAllocationGranularity(size_t *bytes,
                                  const struct cuda_memory *memory, int option)
{
    IN(cuMemGetAllocationGranularity);
    *bytes = GRANULE;
    return memory->type == CUDA_MEMORY_PINNED && option == 0 ? OK
                                                             : INVALID_VALUE;
}

/* Which one of the kind has this address. */
static struct object *object_at(enum kind kind, uint64_t at)
{
    pthread_mutex_lock(&lock);
    struct object *found = objects;
    while (found != NULL && (found->kind != kind || found->at != at))
        found = found->next;
    pthread_mutex_unlock(&lock);
    return found;
}

static void *put_nothing(void *at, size_t bytes, int fixed)
{
    return mmap(at, bytes, PROT_NONE,
                MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | fixed, -1, 0);
}

int cuMemAddressReserve(uint64_t *address, size_t bytes, size_t alignment,
                        uint64_t wish, unsigned long long flags)
{
    IN(cuMemAddressReserve);
    (void)alignment, (void)wish;
    if (bytes % GRANULE != 0 || flags != 0)
        return INVALID_VALUE;
    struct object *const object = object_new(RESERVED, 0);
    object->at = *address = (uintptr_t)put_nothing(NULL, bytes, 0);
    object->bytes = bytes;
    return OK;
}

int cuMemAddressFree(uint64_t address, size_t bytes)
{
    struct object *const object = object_at(RESERVED, address);
    if (object == NULL || object->bytes != bytes)
        return INVALID_VALUE;
    munmap((void *)(uintptr_t)address, bytes);
    const int status = object_end(object, RESERVED);
    OUT(cuMemAddressFree);
    return status;
}

int cuMemCreate(uint64_t *handle, size_t bytes,
                const struct cuda_memory *memory, unsigned long long flags)
{
    IN(cuMemCreate);
    if (bytes % GRANULE != 0 || flags != 0 ||
        memory->location.type != CUDA_LOCATION_DEVICE)
        return INVALID_VALUE;
    if (bytes > memory_bytes / 2)
        return CUDA_OUT_OF_MEMORY;
    struct object *const object = object_new(MAPPABLE, 0);
    object->file = memfd_create("fake", 0);
    *handle = (uintptr_t)object;
    return ftruncate(object->file, (off_t)bytes) == 0 ? OK : INVALID_VALUE;
}

int cuMemRelease(uint64_t handle)
{
    struct object *const object = (void *)(uintptr_t)handle;
    if (is_object(object, MAPPABLE))
        close(object->file);
    const int status = object_end(object, MAPPABLE);
    OUT(cuMemRelease);
    return status;
}

int cuMemMap(uint64_t address, size_t bytes, size_t offset, uint64_t handle,
             unsigned long long flags)
{
    IN(cuMemMap);
    const struct object *const memory = (void *)(uintptr_t)handle;
    if (!is_object(memory, MAPPABLE) || offset != 0 || flags != 0 ||
        object_at(MAPPED, address) != NULL)
        return INVALID_VALUE;
    if (mmap((void *)(uintptr_t)address, bytes, PROT_NONE,
             MAP_SHARED | MAP_FIXED, memory->file, 0) == MAP_FAILED)
        return CUDA_OUT_OF_MEMORY;
    struct object *const object = object_new(MAPPED, 0);
    object->at = address;
    object->bytes = bytes;
    return OK;
}

int cuMemUnmap(uint64_t address, size_t bytes)
{
    struct object *const object = object_at(MAPPED, address);
    if (object == NULL || object->bytes != bytes)
        return INVALID_VALUE;
    put_nothing((void *)(uintptr_t)address, bytes, MAP_FIXED);
    const int status = object_end(object, MAPPED);
    OUT(cuMemUnmap);
    return status;
}

int cuMemSetAccess(uint64_t address, size_t bytes,
                   const struct cuda_access *access, size_t count)
{
    IN(cuMemSetAccess);
    if (count != 1 || access->flags != CUDA_READ_AND_WRITE ||
        object_at(MAPPED, address) == NULL)
        return INVALID_VALUE;
    return mprotect((void *)(uintptr_t)address, bytes,
                    PROT_READ | PROT_WRITE) == 0
               ? OK
               : INVALID_VALUE;
}

int cuTexObjectCreate(uint64_t *object, const struct cuda_resource *resource,
                      const struct cuda_texture *texture, const void *view)
{
    IN(cuTexObjectCreate);
    if (resource->type != CUDA_RESOURCE_LINEAR || resource->flags != 0 ||
        texture->flags != CUDA_READ_AS_INTEGER || view != NULL)
        return INVALID_VALUE;
    *object = (uintptr_t)object_new(TEXTURE, 0);
    return OK;
}

int cuTexObjectDestroy(uint64_t object)
{
    const int status = object_end((void *)(uintptr_t)object, TEXTURE);
    OUT(cuTexObjectDestroy);
    return status;
}

int cuEventCreate(void **event, unsigned flags)
{
    IN(cuEventCreate);
    (void)flags;
    struct object *const made = object_new(EVENT, 0);
    made->context = current;
    *event = made;
    return OK;
}

int cuEventDestroy_v2(void *event)
{
    const int status = object_end(event, EVENT);
    OUT(cuEventDestroy_v2);
    return status;
}

int cuEventRecord(void *event, void *stream)
{
    IN(cuEventRecord);
    struct object *const e = event;
    const struct object *const s = stream;
    if (!is_object(e, EVENT) || (s != NULL && !is_object(s, STREAM)))
        return BAD_HANDLE;
    if (s != NULL && (s->context != e->context || s->context != current))
        return BAD_HANDLE;
    if (s == NULL)
        e->done = now_ms;
    else
        ask((struct asked){.act = RECORD, .stream = stream, .event = event});
    return OK;
}

/* The event may be of another context. */
int cuStreamWaitEvent(void *stream, void *event, unsigned flags)
{
    IN(cuStreamWaitEvent);
    const struct object *const s = stream, *const e = event;
    if (!is_object(s, STREAM) || s->context != current || !is_object(e, EVENT))
        return BAD_HANDLE;
    ask((struct asked){.act = WAIT, .stream = stream, .event = event});
    return flags == 0 ? OK : INVALID_VALUE;
}

static double ms_since_launch(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return 1e3 * (double)(now.tv_sec - launch_time.tv_sec) +
           1e-6 * (double)(now.tv_nsec - launch_time.tv_nsec);
}

int cuEventQuery(void *event)
{
    IN(cuEventQuery);
    if (!is_object(event, EVENT))
        return BAD_HANDLE;
    if (hangs() || ms_since_launch() < fake_setting("FAKE_CUDA_SLOW_MS", 0))
        return CUDA_NOT_READY;
    settle();
    static const void *before; /* who asks again lets the time pass */
    const double done = ((const struct object *)event)->done;
    const bool again = before == event;
    before = event;
    if (done > now_ms && !again)
        return CUDA_NOT_READY;
    now_ms = done > now_ms ? done : now_ms;
    return OK;
}

int cuEventElapsedTime(float *ms, void *start, void *stop)
{
    IN(cuEventElapsedTime);
    const struct object *const from = start, *const to = stop;
    if (!is_object(from, EVENT) || !is_object(to, EVENT) ||
        from->context != to->context)
        return BAD_HANDLE;
    settle();
    *ms = fake_setting("FAKE_CUDA_COPY_MS", 0) > 0
              ? (float)(to->done - from->done)
              : 0.25F;
    return OK;
}

static int launch(void *function)
{
    if (!is_object(function, FUNCTION))
        return BAD_HANDLE;
    clock_gettime(CLOCK_MONOTONIC, &launch_time);
    launched = true;
    return OK;
}

int cuLaunchKernel(void *function, unsigned grid_x, unsigned grid_y,
                   unsigned grid_z, unsigned block_x, unsigned block_y,
                   unsigned block_z, unsigned shared_bytes, void *stream,
                   void **parameters, void **extra)
{
    IN(cuLaunchKernel);
    (void)shared_bytes, (void)parameters;
    if (grid_x * grid_y * grid_z == 0 || block_x * block_y * block_z == 0 ||
        stream != NULL || extra != NULL)
        return INVALID_VALUE;
    return launch(function);
}

int cuLaunchKernelEx(const struct cuda_launch *config, void *function,
                     void **parameters, void **extra)
{
    IN(cuLaunchKernelEx);
    (void)parameters;
    if (config->attribute_count != 1 || extra != NULL ||
        config->attributes[0].id != CUDA_LAUNCH_CLUSTER ||
        config->attributes[0].value.cluster.x == 0)
        return INVALID_VALUE;
    return launch(function);
}
