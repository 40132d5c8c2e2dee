// ODE's config.h, the same for native and WebAssembly builds, so that both compile the same code.
#ifndef ODE_CONFIG_H
#define ODE_CONFIG_H

#define HAVE_ALLOCA_H 1
#define HAVE_GETTIMEOFDAY 1
#define HAVE_INTTYPES_H 1
#define HAVE_ISNAN 1
#define HAVE_MALLOC_H 1
#define HAVE_STDINT_H 1
#define HAVE_SYS_TIME_H 1
#define HAVE_SYS_TYPES_H 1
#define HAVE_UNISTD_H 1
#define ODE_PLATFORM_LINUX  // any platform with POSIX headers, WebAssembly included

#include <alloca.h>
#include <inttypes.h>
#include <malloc.h>
#include <stdint.h>

#include "typedefs.h"

#endif
