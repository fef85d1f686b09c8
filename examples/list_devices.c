/* The devices that can be measured, and the GPUs that can be simulated. */
#include <sonde.h>
#include <stdio.h>

static void show(void *before, const struct sonde_entry *entry)
{
    printf("%s%s: %s\n", (const char *)before, entry->name, entry->text);
}

int main(void)
{
    char none[] = "", sim[] = "sim:";
    struct sonde_error err;
    int code = sonde_list(SONDE_DEVICES, show, none, &err);
    if (code == 0)
        code = sonde_list(SONDE_PROFILES, show, sim, &err);
    if (code != 0)
        fprintf(stderr, "%s\n", err.text);
    return sonde_exit_status(code);
}
