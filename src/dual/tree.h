// Joints that close no loop, taken out of a dual problem with bodies: what they leave free are the coordinates of a
// forest, and the rows that are kept (drives that yield, limits, contacts) become a smaller problem with an explicit D,
//
//   D' = J' P J'^T   v_f' = J' u   P: the bodies' mobility that the forest leaves, u: their twist without J'.
//
// P comes from articulated inertias (Featherstone 1983), all taken about one origin a tree, so that nothing is shifted
// on the way to the root: one passage over the bodies, and a few numbers a degree of freedom for each kept row. A
// joint's rows must be equal and opposite for its two bodies: forces through one point, normal to each other, then
// torques. Those of all kinds of joints are. A problem with a loop has no such rest.
#ifndef KL_DUAL_TREE_H
#define KL_DUAL_TREE_H

#include "base/buffer.h"
#include "dual/problem.h"

enum {
    KL_TREE_ROWS = 64,  // kept at most
    KL_TREE_LEAST = 20  // rows of joints taken out, for which it pays
};
// Whether a problem of this size may have such a rest.
static inline bool kl_tree_may_apply(const KlProblemSize *size) {
    return size->body_count > 0 && size->joint_rows >= KL_TREE_LEAST;
}

// A body, its joint to the parent and the subtree behind it; twists and wrenches are about the tree's origin.
typedef struct KlTreeNode {
    double centre[3], point[3];  // of mass; where the joint's forces act; from the origin
    double across[9];            // (forces) directions of the joint's, orthonormal, then those that they leave free
    double torque[9];            // (torques) vectors reciprocal to the joint's, then the axes that those leave free
    double inertia[36];          // of the subtree, its joints free
    double motion[36];           // (freedoms x 6) what the joint leaves, of unit inertia
    double momentum[36];         // (freedoms x 6) inertia times motion
    double gap[6];               // twist past the parent's that the joint's v_f asks for
    double wrench[6];            // on the subtree
    double response[6];          // (freedoms) of the joint
    double twist[6];
    int32_t body, parent;     // parent: an earlier node, -1 where the joint holds to the world or the body is free
    int32_t block, side;      // the joint and which of its bodies this is; block -1: the body is free
    int32_t forces, torques;  // rows of the joint
    int32_t freedoms, first_freedom;
} KlTreeNode;

// A constraint that is kept, and which freedoms answer to it: those of a free root, and those on the way to it.
typedef struct KlTreeBlock {
    int32_t block, row;        // of the problem: the constraint, its first row
    int32_t first, rows;       // among the kept rows
    int32_t node[2];           // of its bodies, -1: the world
    int32_t begin[2], end[2];  // freedoms, two stretches
} KlTreeBlock;

typedef struct KlTree {
    const KlProblem *problem;
    KlProblem *rest;         // the kept rows; of the tree
    int32_t rows, contacts;  // that it has room for
    int32_t kept, freedoms;
    bool crosses;                      // some kept row reaches over two trees
    int32_t pattern;                   // rows of the dense pattern that the rest has
    KlTreeBlock block[KL_TREE_ROWS];   // (block_count of the rest)
    double wrench[12 * KL_TREE_ROWS];  // (kept x 12) of the rows on their two bodies, about the origin
    int32_t *place;                    // (body_count) node of each body
    KL_BUFFER(KlTreeNode) node;
    KL_BUFFER(int32_t) graph, work;  // what the forest was made from; scratch
    KL_BUFFER(double) response;      // (freedoms x kept)
} KlTree;

// The largest rest of problems up to this size.
KlProblemSize kl_tree_rest_size(const KlProblemSize *size);

// Room for problems up to a capacity of bodies and joints. KL_ERR_MEMORY.
KlStatus kl_tree_reserve(KlTree *t, const KlProblemSize *capacity);
void kl_tree_release(KlTree *t);

// Takes the problem in and fills t->rest. False where it has a loop or too few joints to take out, keeps too many rows,
// or has joints whose rows are others.
bool kl_tree_begin(KlTree *t, const KlProblem *problem);
// Reactions of the kept rows (kept) out of all (dim), and all from those.
void kl_tree_restrict(const KlTree *t, const double *lambda, double *kept);
void kl_tree_extend(KlTree *t, const double *kept, double *lambda);
// The same of reactions that move no body, without v_f. False where joints bear none of them.
bool kl_tree_bear(KlTree *t, const double *kept, double *lambda);

#endif
