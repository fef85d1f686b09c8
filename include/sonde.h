/*
 * sonde: what is inside an NVIDIA GPU, measured.
 *
 *     #include <sonde.h>
 *     #include <stdio.h>
 *
 *     int main(void)
 *     {
 *         const struct sonde_options options = {.device = "cuda:0"};
 *         const char *const studies[] = {"latency"};
 *         struct sonde_finding f;
 *         struct sonde_error err;
 *         struct sonde *s;
 *         int code = sonde_open(&s, &options, &err);
 *         if (code == 0)
 *             code = sonde_run(s, studies, 1, &err);
 *         if (code < 0)
 *             fprintf(stderr, "%s\n", err.text);
 *         if (sonde_find(s, "l2.latency", &f))
 *             printf("%s: %s, %s, %.1f to %.1f %s\n", f.id, f.text, f.status,
 *                    f.low, f.high, f.unit);
 *         sonde_close(s, NULL);
 *         return sonde_exit_status(code);
 *     }
 *
 * More programs are in examples/; `pkg-config --cflags --libs sonde` says how
 * to build them.  The library opens the NVIDIA driver at run time
 * (libcuda.so.1); it links with nothing of CUDA's and runs without a GPU on
 * simulated ones.  It prints nothing.  Functions return 0 or a negative code,
 * whose exit status by the tool's convention is sonde_exit_status(code).
 * Whatever may be NULL is: a session that could not be opened, of which there
 * is nothing to be known; options, a wish or a style of which nothing is
 * wanted; an error that nobody reads.  NULL for anything else is a usage error.
 * Where the host is out of memory a function ends with an error (those without
 * one as if there were nothing), and a session keeps what it found.
 * A session is used by one thread at a time, several by as many at once.
 * Strings that are handed out live as long as the session unless said
 * otherwise; what is said to be freed by the caller is freed with free().
 */
#ifndef SONDE_H
#define SONDE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif
/* All else of the library is hidden from those who link with it. */
#ifdef __GNUC__
#pragma GCC visibility push(default)
#endif

struct sonde;

struct sonde_error {
    int code;
    char text[1024];
};

/* The exit status that belongs to a code: 0 all that was asked ran to its end,
 * 1 it was cut short or what is required is missing, 2 usage or file, 3 no such
 * device or profile, 4 the device failed. */
int sonde_exit_status(int code);
const char *sonde_version(void);
/* The commit that it was built of; "" where that was not known. */
const char *sonde_commit(void);

struct sonde_progress {
    const char *study;      /* the one that runs now */
    size_t done, total;     /* studies */
    const char *experiment; /* its latest, NULL before the first */
    size_t experiments;     /* so far, in the whole run */
    double seconds;         /* since the run began */
    double part, left;      /* how much is over, 0 to 1, and how many seconds
                               are left, as far as can be guessed; else NAN */
};

enum sonde_log_level { SONDE_WARN, SONDE_INFO, SONDE_DEBUG };

struct sonde_options {
    const char *device; /* "cuda:0", "sim:k20c", "sim:./x.json",
                           "replay:FILE"; NULL: the first GPU, or a
                           simulated one where there is none (whose
                           reports in text say so at their end) */
    const char *record; /* keep every sample in this file; NULL: do not */
    uint64_t seed;      /* of random orders and of the simulated noise */
    double budget_s;    /* stop measuring after so long; 0: no limit */
    bool no_cache;      /* do not keep compiled kernels on disk */
    const char *const *command; /* the words to put into reports; may be NULL */
    size_t command_count;
    /* Called before each experiment; may be NULL.  Other than 0 stops the
     * session, as sonde_stop() does. */
    int (*progress)(void *context, const struct sonde_progress *progress);
    void *context;
};

/* Sinks what the library wants to say beside its results; NULL silences. */
void sonde_log(void (*sink)(enum sonde_log_level level, const char *text));

/* On an error the session is NULL. */
int sonde_open(struct sonde **session, const struct sonde_options *options,
               struct sonde_error *err);
/* Writes out the recording, if any, and frees everything.  The error says why
 * a recording could not be written. */
int sonde_close(struct sonde *session, struct sonde_error *err);
/* Stops a session: measuring ends soon, and what is there is reported.  The
 * stop is the session's alone and ends with it; NULL is for all that are open
 * now, one that is just being opened among them.  Safe in a signal handler and
 * from any thread. */
void sonde_stop(struct sonde *session);
/* True once a call of a driver did not come back, in any session: then leave the
 * process by _exit(), since exit() runs what that driver registered for it, and
 * that may wait for the call for ever. */
bool sonde_hangs(void);
/* Opens a report in JSON as a session that knows its findings and measures
 * nothing. */
int sonde_read(struct sonde **session, const char *path,
               struct sonde_error *err);
/* The same of a file that may hold a list of reports, as "json" writes those of
 * several GPUs: they come to the end of the sessions, of which there are
 * `count`.  Start from NULL and 0; the caller closes each and frees the list. */
int sonde_read_all(struct sonde ***sessions, size_t *count, const char *path,
                   struct sonde_error *err);

/* What is open: "cuda:0" and "NVIDIA H200", and whether it is simulated. */
const char *sonde_device_spec(const struct sonde *session);
const char *sonde_device_name(const struct sonde *session);
/* "GPU-…"; "" where it is not known. */
const char *sonde_device_uuid(const struct sonde *session);
bool sonde_device_simulated(const struct sonde *session);
/* Why no GPU was taken when options.device was NULL; "" otherwise. */
const char *sonde_device_why(const struct sonde *session);

/*
 * Runs the named studies and those that they need, in the order of their
 * needs; count 0 runs all that `topology` shows.  0 if all ran to their end,
 * whatever could not be measured (which says why); 1 (not an error) if a stop
 * or the budget cut them short; a negative code if something failed.  What was
 * found until then is kept in either case.
 */
int sonde_run(struct sonde *session, const char *const *studies, size_t count,
              struct sonde_error *err);

/* Levels of the assembler, as a set of bits: 1 << 3 is -O3. */
struct sonde_isa {
    /* Names ("add.u32"), globs, beginnings up to a dot ("add") or categories
     * ("integer"); none: the whole table. */
    const char *const *patterns;
    size_t pattern_count;
    unsigned levels;   /* 0: -O0 and -O3 */
    bool latency_only; /* no throughput */
    /* Also the whole table of throughput by chains and warps. */
    bool parallelism;
};

/* What instructions cost: findings isa.NAME.latency.O3, isa.NAME.throughput and
 * so on; returns as sonde_run. */
int sonde_isa(struct sonde *session, const struct sonde_isa *wish,
              struct sonde_error *err);

struct sonde_bench {
    const char *snippet;    /* PTX; registers are declared from their names, or
                               with .reg, in braces, as compilers print it */
    const char *setup;      /* instructions that run before; NULL: none */
    const char *values;     /* "r0=7 f1=0.5": what registers begin with */
    unsigned levels;        /* 0: -O0 and -O3 */
    const char *form;       /* "guard", "swap" or "plain" copies; NULL: plain */
    unsigned chains, warps; /* for the throughput; 0: what saturates */
    bool parallelism;
};

/* The same of a snippet: bench.latency.O3, bench.throughput and so on. */
int sonde_bench(struct sonde *session, const struct sonde_bench *wish,
                struct sonde_error *err);

/*
 * Lets findings foretell experiments that no study asks, drawn by the seed, and
 * runs these: the findings of a report in JSON, or, if the path is NULL, of what
 * sonde_run() finds first.  A finding that foretells wrongly is in doubt then;
 * `predicted.ID` says how much of what was tried of each was foretold.  0 if all
 * was; 1 (not an error) if something was not, or the run was cut short.
 */
int sonde_validate(struct sonde *session, const char *path,
                   struct sonde_error *err);

/*
 * The same in brief, after sonde_run(): of experiments that take so many seconds
 * of a GPU at most (of a simulated one what takes a hundredth of the run) how
 * many loads were found where the findings foretell, and how many mean costs
 * were as foretold, in `predicted.loads`, `predicted.loads_right`,
 * `predicted.means` and `predicted.means_right`.  0, or a negative code if the
 * device failed.
 */
int sonde_foretell(struct sonde *session, double seconds,
                   struct sonde_error *err);

/* How the cost of one instruction of the table came about: kernel, machine
 * code, chain and samples, as text that the caller frees. */
int sonde_isa_explain(struct sonde *session, const char *name, unsigned levels,
                      char **text, struct sonde_error *err);

/* How many findings there are that have a value. */
size_t sonde_found(const struct sonde *session);
/*
 * 0 if the findings of all studies that ran are there as far as they are
 * required: those whose id matches one of the patterns, in which * stands for
 * any run of characters; count 0 requires all but what the driver itself does
 * not report.  1 if one was not measured, or a pattern is the name of none, and
 * the error says which.  What the device has not is not missing.
 */
int sonde_require(const struct sonde *session, const char *const *patterns,
                  size_t count, struct sonde_error *err);
/* True and the number if the finding was measured, reported or derived: not of
 * a bound, nor of what is in doubt. */
bool sonde_number(const struct sonde *session, const char *id, double *number);
/* True and where the value is, if that is known; of what is in doubt, all that
 * is known. */
bool sonde_interval(const struct sonde *session, const char *id, double *low,
                    double *high);
/* "measured", "in_doubt", "reported", "derived", "at_least", "at_most" or
 * "not_measured"; NULL if there is no such finding. */
const char *sonde_status(const struct sonde *session, const char *id);
/* Why it is a bound, in doubt or was not measured; NULL if there is nothing to
 * say. */
const char *sonde_because(const struct sonde *session, const char *id);

/* One finding.  What it points to lives until the session measures again or is
 * closed. */
struct sonde_finding {
    const char *id;      /* "l1.size" */
    const char *unit;    /* "B"; "" where it has none */
    const char *status;  /* as sonde_status() */
    const char *because; /* as sonde_because() */
    const char *text;    /* the value in words: "16 KiB", "yes", "texture,
                            local"; "" if there is none */
    double number;       /* 1 and 0 for yes and no; NAN if it is no number */
    const double *list;  /* NAN for items that were not measured; NULL if it is
                            no list of numbers */
    size_t count;        /* items of the list */
    const char *axis_name, *axis_unit; /* what the items are of; "" if none */
    const double *axis; /* as many; NULL if they are of no numbers */
    double low, high;   /* where the value is; NAN where not known */
    double confidence;  /* 0 to 1, of that; NAN where not stated */
    const char *study;  /* which measured it */
    const char *method; /* how; NULL where not said */
};

/* True and the finding, if there is one of this id. */
bool sonde_find(struct sonde *session, const char *id,
                struct sonde_finding *finding);
/* Calls `each` for the findings in the order of the report until it returns
 * something else than 0; how many these were. */
size_t sonde_each(struct sonde *session,
                  int (*each)(void *context,
                              const struct sonde_finding *finding),
                  void *context);

struct sonde_style {
    bool color; /* text: a terminal reads it */
    /* text: 0 one screen, 1 all findings, 2 methods, protocols and evidence
     * too */
    unsigned verbose;
    bool tree;    /* text: the memory hierarchy first; else a flat list */
    bool ascii;   /* text: nothing but ASCII */
    size_t width; /* text: columns of the page; 0: 80, and more with verbose */
};

/* The results so far in a format of SONDE_FORMATS ("txt", "json"); the caller
 * frees. */
int sonde_report(const struct sonde *session, const char *format,
                 const struct sonde_style *style, char **text,
                 struct sonde_error *err);
/* The same of a report in JSON that was read from a file. */
int sonde_report_file(const char *path, const char *format,
                      const struct sonde_style *style, char **text,
                      struct sonde_error *err);
/* The same of several sessions, side by side; SONDE_FORMATS says which formats
 * take more than one. */
int sonde_report_all(struct sonde *const *sessions, size_t count,
                     const char *format, const struct sonde_style *style,
                     char **text, struct sonde_error *err);
/*
 * Reports of one GPU become one session, the first of them; the others are
 * closed, and `count` is how many are left.  Of one GPU are those of one uuid,
 * or, where that is not known, of one spec and name, if driver, CUDA and
 * compute capability are the same, too.  `models`: all are to become one, which
 * they may if they are of GPUs of one model; else the error says what differs,
 * and nothing is merged.
 */
int sonde_merge(struct sonde **sessions, size_t *count, bool models,
                struct sonde_error *err);
/* The format that the path's extension means, the longest of them; NULL: none.
 */
const char *sonde_format_of(const char *path);

struct sonde_comparison {
    const char *only;   /* patterns of ids with commas between; NULL: all */
    double tolerance;   /* how far beyond intervals, as a share of the base's
                           number: 0.02 */
    const char *format; /* "txt", "json" or "line"; NULL: "txt" */
};

/*
 * The first session against the others, at least one.  0 if they are alike, 1
 * if a finding differs (its intervals are further apart than the tolerance, or
 * it is of structure and another) or has no value any more; and the comparison
 * as text, the furthest first, which the caller frees.
 */
int sonde_compare(struct sonde *const *sessions, size_t count,
                  const struct sonde_comparison *wish,
                  const struct sonde_style *style, char **text,
                  struct sonde_error *err);

/* Many GPUs, each beside those of its model. */
struct sonde_fleet;

struct sonde_fleet_wish {
    const char *since;  /* a file or folder of reports to compare with, or NULL */
    const char *expect; /* a file with hosts, one a line, or NULL */
    const char *rack;   /* extended regular expression whose first group is the
                           rack in a host's name; NULL: what stands before the
                           last of several numbers */
    const char *only;   /* patterns of ids with commas between; NULL: all */
    double alarms;      /* false ones to be expected in the fleet; 0: 0.1 */
    double tolerance;   /* a share; nobody is out by less; 0: 0.01 */
};

/*
 * Reads files with reports, folders with all that is below, and "-", standard
 * input, which holds paths or reports; with as many threads as there are cores.
 * What is no report, is broken or still being written is counted and named in
 * what is reported, and is no error; a path that is not there is one.
 */
int sonde_fleet_read(struct sonde_fleet **fleet, const char *const *paths,
                     size_t count, const struct sonde_fleet_wish *wish,
                     struct sonde_error *err);
/* As "txt", "json", "html" or "prom"; the caller frees. */
int sonde_fleet_report(const struct sonde_fleet *fleet, const char *format,
                       const struct sonde_style *style, char **text,
                       struct sonde_error *err);
/* True if a GPU, a host or a rack is out, something has changed, or an expected
 * host gave no report. */
bool sonde_fleet_differs(const struct sonde_fleet *fleet);
/* How many GPUs were judged; and how many files could not be read. */
size_t sonde_fleet_gpus(const struct sonde_fleet *fleet);
size_t sonde_fleet_refused(const struct sonde_fleet *fleet);
void sonde_fleet_close(struct sonde_fleet *fleet);

/* One experiment: "chase", {"space=global", "bytes=4096"}.  Its samples as a
 * table, tab-separated under a heading line, and at the end a line that begins
 * with #: their median, and how it is made of the columns.  The caller frees. */
int sonde_probe(struct sonde *session, const char *name,
                const char *const *parameters, size_t count, char **table,
                struct sonde_error *err);
/* The kernel that it would run.  The caller frees. */
int sonde_ptx(struct sonde *session, const char *name,
              const char *const *parameters, size_t count, char **ptx,
              struct sonde_error *err);

/* Rows of `sonde list` and `sonde explain`. */
struct sonde_entry {
    const char *name; /* cuda:0; k20c; cache_size; chase */
    const char *text; /* one line */
    const char *note; /* of a study when it runs and how long that takes, as
                         "when named; loads the GPU; 1.1 s on an H200"; of a
                         format "one GPU" or "several"; "" of all else */
};

enum sonde_list {
    SONDE_DEVICES,
    SONDE_PROFILES,
    SONDE_STUDIES,
    SONDE_PROBES,
    SONDE_INSTRUCTIONS,
    SONDE_FORMATS
};

/* Calls `row` for each entry; the strings live during the call. */
int sonde_list(enum sonde_list what,
               void (*row)(void *context, const struct sonde_entry *entry),
               void *context, struct sonde_error *err);
/* Calls `row` for each device that a spec names: of a simulated host as a whole
 * ("sim:pair") each of its GPUs ("sim:pair:0", "sim:pair:1"), which sonde_open
 * takes the first of; of all else the spec itself.  None is opened. */
int sonde_devices(const char *spec,
                  void (*row)(void *context, const struct sonde_entry *entry),
                  void *context, struct sonde_error *err);
/* In words: a study (question, method, needs, findings), a probe (parameters
 * with their ranges), a finding (which studies find it, and how), an instruction
 * of the table, a simulated GPU (whose numbers it has).  The caller frees. */
int sonde_explain(const char *name, char **text, struct sonde_error *err);

/* For whoever takes words and paths from a user: a text as it may stand in a
 * line of a terminal, with controls and signs of direction written out, which
 * the caller frees; the name of `names` (NULL-terminated) nearest to `word`,
 * NULL if none is near enough to be what was meant; whether a file could be written, before there is anything to
 * write; and a file written whole or not at all. */
char *sonde_plain(const char *text);
const char *sonde_nearest(const char *word, const char *const *names);
int sonde_writable(const char *path, struct sonde_error *err);
int sonde_write(const char *path, const char *text, struct sonde_error *err);

#ifdef __GNUC__
#pragma GCC visibility pop
#endif
#ifdef __cplusplus
}
#endif

#endif
