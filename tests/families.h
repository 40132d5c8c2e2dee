// Families of one-step problems in body form, made from formulas (as the reference prototypes make
// theirs), and random ones in explicit form. Each returned problem is the caller's to destroy.
#ifndef KL_TESTS_FAMILIES_H
#define KL_TESTS_FAMILIES_H

#include "kl.h"

// A cube of `bottom` kg on the ground, a cube of `top` kg fixed on it (0.2 m, mu 0.7, 4 contacts);
// a horizontal push of `push` times the friction limit.
KlProblem *family_boxes_fixed(double bottom, double top, double push);
// Four links flat on the ground (4 x 4 contacts), 20 joint rows of rank 18 in a closed loop; the
// push, in shares of mu m g of all links, acts on the first link along (0.3, 1).
KlProblem *family_four_bar(const double mass[4], double push);
// `links` bars in a row on revolute joints, both ends fixed to the world when `loop`, under
// gravity.
KlProblem *family_chain(int32_t links, bool loop);
// A wall of `columns` x `rows` bricks (4 contacts per face pair), alternate rows shifted by half a
// brick.
KlProblem *family_wall(int32_t columns, int32_t rows);
// `side` x `side` x `layers` spheres, nearly touching in a staggered lattice on the ground, moving
// at random.
KlProblem *family_spheres(int32_t side, int32_t layers, uint64_t seed);
// D = A A^T of random rank, up to `contacts` contacts, joints and limits; v_f in the range of A; mu
// in [0, 2].
KlProblem *family_random(uint64_t seed, int32_t contacts);

#endif
