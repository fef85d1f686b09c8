/* The lab's services in their old form, with an error handed through every
 * call; goes when the last study has moved to lab.h. */
#ifndef SONDE_STUDY_LAB_ERR_H
#define SONDE_STUDY_LAB_ERR_H

/* Runs the experiment that the format gives. */
int lab_probe_err(struct lab *lab, struct samples *samples, char **canonical,
                  struct error *err, const char *fmt, ...)
    __attribute__((format(printf, 5, 6)));
struct old_cost {
    double cycles, low, high;
    char *experiment; /* canonical; the caller frees */
};
int lab_chase_err(struct lab *lab, struct old_cost *cost, struct error *err,
                  const char *fmt, ...) __attribute__((format(printf, 4, 5)));
int lab_chase_places_err(struct lab *lab, struct old_cost *cost, uint64_t first,
                         uint64_t apart, size_t places, struct error *err,
                         const char *fmt, ...)
    __attribute__((format(printf, 7, 8)));
int lab_average_err(struct lab *lab, struct old_cost *cost, struct error *err,
                    const char *fmt, ...) __attribute__((format(printf, 4, 5)));
typedef int old_level_question(struct lab *lab, const struct level_row *row,
                               struct level_facts *facts, struct error *err);
int lab_ask_level_err(struct lab *lab, enum level_id id, const char *attribute,
                      old_level_question *ask, struct error *err);
int lab_each_level_err(struct lab *lab, const char *attribute,
                       old_level_question *ask, struct error *err);
void finding_old_cost(struct finding *finding, const struct old_cost *cost);

/* What failed in calls of the new form, for a caller of the old one. */
int lab_hand_out(struct lab *lab, struct error *err);

#endif
