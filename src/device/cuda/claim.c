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

/* Eight GPUs one after the other take some two minutes for their links. */
static const double patience_s = 600;
static const struct timespec nap = {.tv_nsec = 20000000};

/* A driver that the user names has GPUs of its own, shared by one parent's
 * processes. */
static socklen_t name_of(struct sockaddr_un *name)
{
    enum { MOST = sizeof name->sun_path - 1 };
    *name = (struct sockaddr_un){.sun_family = AF_UNIX};
    const int length = getenv("SONDE_LIBCUDA") == NULL
                           ? snprintf(name->sun_path + 1, MOST, "sonde/links")
                           : snprintf(name->sun_path + 1, MOST,
                                      "sonde/links of %ld", (long)getppid());
    return (socklen_t)(offsetof(struct sockaddr_un, sun_path) + 1 +
                       (size_t)length);
}

static bool try_to_have(struct gpu *gpu)
{
    struct sockaddr_un name;
    const socklen_t size = name_of(&name);
    const int s = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);
    if (s < 0)
        return true;
    if (bind(s, (struct sockaddr *)&name, size) == 0) {
        gpu->claim = s + 1;
        return true;
    }
    const bool taken = errno == EADDRINUSE;
    close(s);
    return !taken;
}

int gpu_claim(struct device *device, struct error *err)
{
    struct gpu *const gpu = gpu_of(device);
    const double begun = now_seconds();
    if (gpu->claim > 0)
        return 0;
    while (!try_to_have(gpu)) {
        if (gpu_ends(gpu) || now_seconds() - begun > patience_s)
            return error_set(err, ERR_UNSUPPORTED,
                             "another sonde measures the links of this host, "
                             "and was not done after %.0f s",
                             now_seconds() - begun);
        nanosleep(&nap, NULL);
    }
    return 0;
}

void gpu_let_go(struct device *device)
{
    struct gpu *const gpu = gpu_of(device);
    if (gpu->claim > 0)
        close(gpu->claim - 1);
    gpu->claim = 0;
}
