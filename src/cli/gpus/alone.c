/*
 * A name in the abstract space of Unix sockets (unix(7)): it leaves no file,
 * ends with the process however that ends, and is one for all users of a host.
 * Whoever finds it taken knocks, by a datagram.
 */
#include "cli/gpus/alone.h"

#include <errno.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

static int door = -1;

bool alone_taken(const char *gpu)
{
    struct sockaddr_un name = {.sun_family = AF_UNIX};
    const int length =
        snprintf(name.sun_path + 1, sizeof name.sun_path - 1, "sonde/%s", gpu);
    const size_t most = sizeof name.sun_path - 2;
    const socklen_t size =
        (socklen_t)(offsetof(struct sockaddr_un, sun_path) + 1 +
                    ((size_t)length < most ? (size_t)length : most));
    const int s = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    if (s < 0)
        return false;
    if (bind(s, (struct sockaddr *)&name, size) == 0) {
        door = s;
        return false;
    }
    const bool taken = errno == EADDRINUSE;
    if (taken)
        sendto(s, "", 1, 0, (struct sockaddr *)&name, size);
    close(s);
    return taken;
}

bool alone_disturbed(void)
{
    char knock;
    return door >= 0 && recv(door, &knock, 1, MSG_DONTWAIT) >= 0;
}
