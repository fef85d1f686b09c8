/*
 * Which of our processes has what the GPUs of a host share.  It is a name in
 * the abstract space of Unix sockets (unix(7)), which leaves no file and ends
 * with the process however that ends; whoever cannot have a socket has no
 * others to fear that it could know of, and goes on.
 */
#include <errno.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <time.h>
#include <unistd.h>

#include "base/stop.h"
#include "device/cuda/gpu.h"

/* Eight GPUs one after the other take half a minute for their links. */
static const double patience_s = 600;
static const struct timespec nap = {.tv_nsec = 5000000};

/* Contexts and programs that others make ready for a measurement disturb it;
 * whoever takes longer than this for them is not waited for. */
static const double others_s = 6;
/* So many GPUs of a host are looked for. */
enum { STARTING_MOST = 32 };

/* A driver that the user names has GPUs of its own, shared by one parent's
 * processes. */
static socklen_t name_of(struct sockaddr_un *name, const char *what)
{
    enum { MOST = sizeof name->sun_path - 1 };
    *name = (struct sockaddr_un){.sun_family = AF_UNIX};
    const int length =
        getenv("SONDE_LIBCUDA") == NULL
            ? snprintf(name->sun_path + 1, MOST, "sonde/%s", what)
            : snprintf(name->sun_path + 1, MOST, "sonde/%s of %ld", what,
                       (long)getppid());
    return (socklen_t)(offsetof(struct sockaddr_un, sun_path) + 1 +
                       (size_t)length);
}

/* A socket of that name, plus 1; 0: another has it; -1: none can be had. */
static int take_name(const char *what)
{
    struct sockaddr_un name;
    const socklen_t size = name_of(&name, what);
    const int s = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);
    if (s < 0)
        return -1;
    if (bind(s, (struct sockaddr *)&name, size) == 0)
        return s + 1;
    const bool taken = errno == EADDRINUSE;
    close(s);
    return taken ? 0 : -1;
}

static void give_name(int *taken)
{
    if (*taken > 0)
        close(*taken - 1);
    *taken = 0;
}

/* ---- who starts -------------------------------------------------------- */

static int take_starting(int which)
{
    char what[32];
    snprintf(what, sizeof what, "starting %d", which);
    return take_name(what);
}

void gpu_starts(struct gpu *gpu)
{
    for (int i = 0; i < STARTING_MOST && gpu->starting == 0; i++)
        gpu->starting = take_starting(i);
}

void gpu_has_started(struct gpu *gpu)
{
    give_name(&gpu->starting);
}

static bool another_starts(void)
{
    for (int i = 0; i < STARTING_MOST; i++) {
        int mine = take_starting(i);
        if (mine == 0)
            return true;
        give_name(&mine);
    }
    return false;
}

static void await_others(const struct gpu *gpu)
{
    const double begun = now_seconds();
    while (another_starts() && !gpu_ends(gpu) &&
           now_seconds() - begun < others_s)
        nanosleep(&nap, NULL);
}

/* ---- who measures ------------------------------------------------------ */

static bool try_to_have(struct gpu *gpu)
{
    const int taken = take_name("links");
    gpu->claim = taken > 0 ? taken : 0;
    return taken != 0;
}

static int meet(void *argument, struct error *err)
{
    (void)err;
    gpu_meet_peers(argument);
    return 0;
}

int gpu_claim(struct device *device, struct error *err)
{
    struct gpu *const gpu = gpu_of(device);
    const double begun = now_seconds();
    struct error ignored;
    int status;
    if (gpu->claim > 0)
        return 0;
    gpu_starts(gpu);
    gpu_aside(device, meet, gpu, &status, &ignored);
    gpu_has_started(gpu);
    while (!try_to_have(gpu)) {
        if (gpu_ends(gpu) || now_seconds() - begun > patience_s)
            return error_set(err, ERR_UNSUPPORTED,
                             "another sonde measures the links of this host, "
                             "and was not done after %.0f s",
                             now_seconds() - begun);
        nanosleep(&nap, NULL);
    }
    await_others(gpu);
    return 0;
}

void gpu_let_go(struct device *device)
{
    give_name(&gpu_of(device)->claim);
}
