// FCLIB, the format of Acary et al. for frictional contact problems (HDF5, "fclib_local" and
// "fclib_global").
//
//   local    u = W r + V l + q,  0 = V' r + R l + s
//   global   M v = H r + G l + f,  u = H' v + w,  0 = G' v + b
//
// The normal is the first component of each contact there and the last here. W is taken as it is, also
// when it is not symmetric.
#ifndef KINLOOP_FCLIB_H
#define KINLOOP_FCLIB_H

#include "h5.h"
#include "problem_file.h"

// A block-diagonal M of rigid bodies (m 1, I) whose contacts touch at most two of them keeps body form.
// Else M^-1 is applied block by block of M's graph (dense LU, at most 4000 unknowns a block).
KlStatus fclib_read(const H5File *file, bool global, ProblemRecord *record);

// Writes one problem: local (joints become V, R, s) or global (body form: M, H, G; f = 0, v_f in w and b). KL_ERR_SCENE
// when it has limits, which FCLIB lacks, and, global, when it has softening or knows D alone.
KlStatus fclib_write(const char *path, bool global, const ProblemRecord *record);

#endif
