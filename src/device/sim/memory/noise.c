/* Seeded noise; see noise.h. */
#include "device/sim/memory/noise.h"

#include <math.h>

void noise_init(struct noise *noise, double jitter_cycles, double spike_rate,
                double spike_cycles, uint64_t seed)
{
    noise->quiet = jitter_cycles == 0 && (spike_rate == 0 || spike_cycles == 0);
    noise->spike_cycles = spike_cycles;
    noise->spike_below = (uint64_t)(spike_rate * 0x1.0p52);
    rng_seed(&noise->rng, seed);
    for (int i = 0; i < NOISE_TABLE; i += 2) {
        const float jitter =
            (float)round(jitter_cycles * rng_normal(&noise->rng));
        noise->jitter[i] = jitter;
        noise->jitter[i + 1] = -jitter;
    }
}

double noise_spike(struct noise *noise)
{
    return round(noise->spike_cycles * (0.5 + rng_unit(&noise->rng)));
}
