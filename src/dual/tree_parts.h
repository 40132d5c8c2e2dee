// What the files of the tree share.
#ifndef KL_DUAL_TREE_PARTS_H
#define KL_DUAL_TREE_PARTS_H

#include "dual/tree.h"

enum {
    KL_TREE_RESPONSES = 1 << 15,  // most numbers of kept rows: kept freedoms
    KL_TREE_PRODUCTS = 1 << 18    // and of products: kept^2 freedoms
};

// tree_plan.c: the nodes, anew where the graph is another, and the kept rows. False where the tree does not apply.
bool kl_tree_plan(KlTree *t, const KlProblem *p);

// tree_joint.c: of a node whose parent has its centre. False where the joint's rows are others than tree.h says.
bool kl_tree_place_joint(const KlProblem *p, const KlTreeNode *nodes, KlTreeNode *n);
// Motion i of those that the joint leaves: along what is across to its forces, then about the axes normal to its
// torques.
void kl_tree_free_motion(const KlTreeNode *n, int32_t i, double motion[6]);
void kl_tree_close_gap(const KlProblem *p, KlTreeNode *n);
// The joint's reactions, into lambda (dim of the problem), out of the wrench that it puts on its child.
void kl_tree_take_joint(const KlProblem *p, const KlTreeNode *n, const double wrench[6], double *lambda);

#endif
