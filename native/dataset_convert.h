// kinloop dataset convert: dual problems from any format into any other.
#ifndef KINLOOP_DATASET_CONVERT_H
#define KINLOOP_DATASET_CONVERT_H

#include "output.h"

KlStatus dataset_convert(const CliArgs *args);  // operands after the first: FILE[:SELECTION]; options -o, --to, -f

#endif
