/*
 * The probe `peers`: which GPUs stand in the host, and which of them this one
 * reaches.  It runs no kernel; it is a probe so that a recording knows the
 * answer, too.
 */
#include "probe/check.h"
#include "probe/run.h"

enum column { COLUMN_GPU = 1, COLUMN_SELF, COLUMN_REACHED, COLUMN_ATOMICS };

static const struct param peers_params[] = {{0}};

static int peers_once(struct prober *prober, const struct experiment *e,
                      struct samples *samples, struct error *err)
{
    enum device_peer peers[PEERS_MOST];
    size_t count;
    (void)e;
    if (device_peers(prober_device(prober), peers, &count, err) != 0)
        return err->code;
    for (size_t i = 0; i < count; i++) {
        int64_t *const row = samples_row(samples);
        row[COLUMN_GPU] = (int64_t)i;
        row[COLUMN_SELF] = peers[i] == PEER_SELF;
        row[COLUMN_REACHED] =
            peers[i] == PEER_REACHED || peers[i] == PEER_ATOMICS;
        row[COLUMN_ATOMICS] = peers[i] == PEER_ATOMICS;
    }
    return 0;
}

static const char *peers_sound(const struct experiment *e,
                               const struct rows *rows)
{
    (void)e;
    return rows_are_below(rows, COLUMN_GPU, PEERS_MOST);
}

const struct probe probe_peers = {
    .name = "peers",
    .what = "GPUs of the host, and which of them this one reaches",
    .params = peers_params,
    .columns = TEXTS("gpu", "self", "reached", "atomics"),
    .figure_column = COLUMN_GPU,
    .repeats_least = 1,
    .repeats_most = 1,
    .once = peers_once,
    .sound = peers_sound,
};
