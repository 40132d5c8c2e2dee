// fuzz_hdf5 over objects in memory (h5_memory.c) in place of files.
#include "fuzz_hdf5.c"
