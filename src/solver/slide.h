// Contacts of the rest of a tree that slide, beside what holds (rest.h). Of one that pushes with n in the direction d,
// lambda = n (mu d, 1), Newton's step is y of its normal and z across d, where the contact comes to rest and d turns
// against the motion:
//
//   v_n = 0,   d_across . v_t + z |v_t| / (mu n) = 0
//
// That is the symmetric system M of the faces (across d, then normals), and F^T (D' + R) mu d for each normal: columns
// that the factor of M takes along, and a small system of the normals (Woodbury). The factor serves again while
// directions hardly turn.
#ifndef KL_SOLVER_SLIDE_H
#define KL_SOLVER_SLIDE_H

#include "solver/rest.h"

enum { KL_SLIDE_CONTACTS = KL_TREE_ROWS / 3 };

typedef struct KlSlide {
    int32_t count;                            // contacts that slide and rub
    int32_t across;                           // face across the first one's d; the others' follow, then normals
    int32_t row[KL_SLIDE_CONTACTS];           // (count) their first rows
    double friction[KL_SLIDE_CONTACTS];       // (count)
    int32_t place[KL_SLIDE_CONTACTS], first;  // (count) of the normals among the pivots, the first of them
    double right[KL_TREE_ROWS];               // (faces)
    double system[KL_SLIDE_CONTACTS * KL_SLIDE_CONTACTS];  // (count x count), factored
    int32_t exchange[KL_SLIDE_CONTACTS];
} KlSlide;

// Faces by `state`. What slides is moved to where the natural map at kept and velocity (kept) projects it; whether that
// has moved something.
bool kl_slide_begin(KlSlide *s, KlRest *r, const KlTree *t, const uint8_t *state, const double *velocity, double *kept);
// Factors at kept with its velocity. False where that is singular.
bool kl_slide_factor(KlSlide *s, KlRest *r, const KlTree *t, const double *velocity, const double *kept);
// What is left of the equations at a velocity (kept), for the next step; the largest of it, times S of its row.
void kl_slide_pull(KlSlide *s, const KlRest *r, const double *velocity);
double kl_slide_left(const KlSlide *s, const KlRest *r, const KlTree *t);
// One step by the last factor. False where a contact would pull.
bool kl_slide_step(const KlSlide *s, KlRest *r, double *kept);

#endif
