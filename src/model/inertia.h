// Inertia: validity of a tensor, and mass properties of geometry at unit density.
#ifndef KL_MODEL_INERTIA_H
#define KL_MODEL_INERTIA_H

#include "kl.h"

// Principal moments in ascending order, of a symmetric 3 x 3 (cyclic Jacobi).
void kl_principal_moments(const double inertia[9], double moments[3]);

typedef struct KlMassProperties {
    double volume;      // [m^3]; times density it is the mass
    double centre[3];   // centre of mass [m]
    double inertia[9];  // about the centre, at unit density [m^5]
} KlMassProperties;

// Of one geom, in the frame its pose is given in. `mesh` is NULL for primitives. KL_ERR_SCENE for a
// plane, a mesh that is not closed, or one with zero or negative volume (turned inside out).
KlStatus kl_geom_mass_properties(const KlGeomDef *geom, const KlMeshDef *mesh, KlMassProperties *properties);
// Adds `part` to `sum` (a zeroed sum is the empty body).
void kl_mass_properties_add(KlMassProperties *sum, const KlMassProperties *part);

#endif
