// Files of dual problems: our HDF5 (dataset_file.h), FCLIB local and global (fclib.h), JSON.
#ifndef KINLOOP_PROBLEM_FILE_H
#define KINLOOP_PROBLEM_FILE_H

#include "h5.h"
#include "kl.h"

// One problem with what its file says about it.
typedef struct ProblemRecord {
    KlProblem *problem;
    double *lambda;         // (dim) best known solution, NULL when the file has none
    double lambda_natural;  // its r_nat_rel as stored, NaN when unknown
    char name[192];         // inside the file, e.g. "walker/dense-constraints/r0-s000003-t000120"
    char note[256];         // what a reader should know, e.g. how a global problem was reduced; "" = nothing
    // Where it was sampled; empty and 0 when the file does not say.
    char scene[64], run[64], category[32];
    int64_t seed, step;
    int32_t rank;       // of J, -1 when unknown
    double mass_ratio;  // 0 when unknown
} ProblemRecord;

void problem_record_init(ProblemRecord *record);
void problem_record_free(ProblemRecord *record);
int32_t problem_soft_row(const KlProblem *problem);  // the first row with softening, -1 without

typedef enum ProblemFormat { PROBLEM_OURS, PROBLEM_FCLIB_LOCAL, PROBLEM_FCLIB_GLOBAL, PROBLEM_JSON } ProblemFormat;
const char *problem_format_name(ProblemFormat format);

typedef struct ProblemFile {
    char path[1024];
    ProblemFormat format;
    int32_t count;
    H5File h5;     // HDF5 formats
    char **names;  // (count) ours: absolute group paths
    char *text;    // JSON
    size_t size;
} ProblemFile;

// Opens by content, not by name. KL_ERR_IO, KL_ERR_FORMAT with file and object path.
KlStatus problem_file_open(const char *path, ProblemFile *file);
void problem_file_close(ProblemFile *file);
// Reads and checks one problem; the caller frees the record, also after a failure.
KlStatus problem_file_read(ProblemFile *file, int32_t index, ProblemRecord *record);

// Splits FILE[:SELECTION] (an index, a range "3-9", or a name prefix of our files).
typedef struct ProblemSelection {
    char path[1024];
    int32_t first, last;  // inclusive; last -1 = to the end
    char prefix[128];     // "" = all
} ProblemSelection;
KlStatus problem_select(const char *text, ProblemSelection *selection);
bool problem_file_is(const char *text);  // FILE[:SELECTION] that can be opened as a file of problems
bool problem_selected(const ProblemFile *file, const ProblemSelection *selection, int32_t index);

#endif
