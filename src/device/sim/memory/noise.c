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

/* Where an access outside a burst of b begins one with chance p, the share of
 * accesses in bursts is b p / (b p + 1 - p). */
void neighbour_init(struct neighbour *neighbour,
                    const struct profile_neighbour *profile, uint64_t seed)
{
    const double s = profile->share, b = (double)profile->burst;
    neighbour->chance = s > 0 ? s / (b * (1 - s) + s) : 0;
    neighbour->cycles = profile->cycles;
    neighbour->burst = profile->burst;
    neighbour->left = 0;
    rng_seed(&neighbour->rng, seed);
}

double neighbour_wait(struct neighbour *neighbour)
{
    if (neighbour->left == 0 && rng_unit(&neighbour->rng) < neighbour->chance)
        neighbour->left = neighbour->burst;
    if (neighbour->left == 0)
        return 0;
    neighbour->left--;
    return round(-neighbour->cycles * log1p(-rng_unit(&neighbour->rng)));
}
