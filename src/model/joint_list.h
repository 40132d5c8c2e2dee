// The joint kinds, one line each, in the order of KlJointKind:
//   JOINT(NAME, "id", "title", degrees of freedom, angular flag of each coordinate)
// Axes and order of the coordinates are those of KlJointKind in kl.h; a joint has 6 - d_j rows.
#ifndef KL_MODEL_JOINT_LIST_H
#define KL_MODEL_JOINT_LIST_H

#define KL_JOINT_LIST(JOINT)                                             \
    JOINT(FIXED, "fixed", "Fixed", 0, {false})                           \
    JOINT(REVOLUTE, "revolute", "Revolute", 1, {true})                   \
    JOINT(PRISMATIC, "prismatic", "Prismatic", 1, {false})               \
    JOINT(CYLINDRICAL, "cylindrical", "Cylindrical", 2, {false, true})   \
    JOINT(UNIVERSAL, "universal", "Universal", 2, {true, true})          \
    JOINT(SPHERICAL, "spherical", "Spherical", 3, {true, true, true})    \
    JOINT(GIMBAL, "gimbal", "Gimbal", 3, {true, true, true})             \
    JOINT(CARTESIAN, "cartesian", "Cartesian", 3, {false, false, false}) \
    JOINT(PLANAR, "planar", "Planar", 3, {false, false, true})

#endif
