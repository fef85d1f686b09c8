/* All SMs as small boxes, in the groups that were found, within the part of L2
 * that they are beside. */
#ifndef SONDE_REPORT_PICTURE_SM_MAP_H
#define SONDE_REPORT_PICTURE_SM_MAP_H

#include "report/picture/storage_box.h"

/* How many SMs there are, by the driver or by a list of all; 0: not known. */
size_t sm_map_sms(const struct results *results);

/* The box of L2 with its SMs; without L2 that of the SMs; NULL: neither is
 * known. */
struct box *sm_map_box(const struct machine *machine);

#endif
