// The main kernels under the roof of the machine: kinloop bench --roofline.
#ifndef KINLOOP_ROOFLINE_H
#define KINLOOP_ROOFLINE_H

#include "output.h"

// Measures the roof and the kernels on problems: of the operands, which are scenes (the problem of their last step,
// --steps of them by newton-ncp) or FILE[:SELECTION] of stored problems. An object with machine, build, roof and kernels.
KlStatus roofline_measure(const CliArgs *args, json_t **result);
void roofline_print(const json_t *result);

#endif
