// Our HDF5 layout of dual problems, written by `run --record` and `dataset make`.
//
//   /                      @format "kinloop-problems"  @version 1  @writer "kinloop x.y.z"
//   /SYSTEM/CATEGORY/NAME  one group per problem; its attributes:
//       n_d n_jd n_j n_l n_c n_b   counts (rows, joint rows, joints, limits, contacts, bodies)
//       dt [s]  category  rank (of J, -1 unknown)  mass_ratio  scene  run  seed  step
//       r_nat  r_nat_rel           of lambda, when there is one
//     and its datasets (rows: joints, limits, contacts as t, o, n):
//       d_j (n_j)  i_j (n_j)       rows and first row of each joint
//       i_l (n_l)                  row of each limit
//       mu (n_c)  v_f (n_d)  softening (n_d, absent when hard)  block_id (n_j + n_l + n_c) u64
//       D/start (n_d + 1)  D/index  D/value    CSR of D, without the softening; absent with --no-delassus
//       J/body (blocks x 2)  J/value (n_d x 12)   body form only: the two 6-blocks of each row
//       M/mass (n_b)  M/inertia (n_b x 9)  M/inverse_mass (n_b)  M/inverse_inertia (n_b x 9)
//       lambda (n_d)               best known solution
//   /trajectory            `run --record` only: time, pose, twist, hash, metrics ... per solver
#ifndef KINLOOP_DATASET_FILE_H
#define KINLOOP_DATASET_FILE_H

#include "h5.h"
#include "problem_file.h"

#define DATASET_FORMAT "kinloop-problems"
enum { DATASET_VERSION = 1 };

bool dataset_is(const H5File *file);  // the root carries our format
KlStatus dataset_create(const char *path, H5File *file);
// Writes one problem as the group `name` ("/system/category/name"), which must be new.
KlStatus dataset_write(const H5File *file, const char *name, const ProblemRecord *record, bool with_delassus);
KlStatus dataset_read(const H5File *file, const char *name, ProblemRecord *record);
// The absolute paths of all problems, ascending; freed with kl_free each and as a whole.
KlStatus dataset_names(const H5File *file, char ***names, int32_t *count);

#endif
