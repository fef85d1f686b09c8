// What a load costs from each level, in C++: a session that closes itself.
// Argument: a device, or else the first GPU.
#include <cstdio>
#include <memory>
#include <sonde.h>
#include <stdexcept>
#include <string>

struct Close {
    void operator()(sonde *s) const { sonde_close(s, nullptr); }
};
using Session = std::unique_ptr<sonde, Close>;

static Session measure(const char *device)
{
    sonde_options options = {};
    options.device = device;
    const char *studies[] = {"latency"};
    sonde_error err;
    sonde *raw;
    if (sonde_open(&raw, &options, &err) != 0)
        throw std::runtime_error(err.text);
    Session s(raw);
    if (sonde_run(s.get(), studies, 1, &err) < 0)
        throw std::runtime_error(err.text);
    return s;
}

int main(int argc, char **argv)
try {
    const Session s = measure(argc > 1 ? argv[1] : nullptr);
    for (const std::string level : {"shared", "l1", "l2", "memory"}) {
        sonde_finding f;
        if (sonde_find(s.get(), (level + ".latency").c_str(), &f))
            std::printf("%s: %s (%s)\n", level.c_str(), f.text, f.status);
    }
} catch (const std::exception &e) {
    std::fprintf(stderr, "%s\n", e.what());
    return 1;
}
