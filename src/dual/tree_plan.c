// Which joints a tree takes out, and where its bodies hang.
#include <string.h>

#include "dual/tree_parts.h"
#include "math/lanes.h"

enum { MOST_STRESSES = 8 };  // of rigid kept rows, more than freedoms

// Joints that hold rigidly are taken out; the graph tells which they are, beside what they join.
static bool is_rigid(const KlProblem *p, int32_t block) {
    for (int32_t row = p->block_start[block]; row < p->block_start[block + 1]; row++) {
        if (p->softening[row] != 0.0) {
            return false;
        }
    }
    return kl_block_rows(p, block) <= 6;
}

static bool same_graph(KlTree *t, const KlProblem *p, int32_t *graph) {
    size_t count = 1 + 4 * (size_t)p->joint_count;
    int32_t *at = graph;
    *at++ = p->body_count;
    for (int32_t b = 0; b < p->joint_count; b++, at += 4) {
        at[0] = p->block_body[2 * b];
        at[1] = p->block_body[2 * b + 1];
        at[2] = kl_block_rows(p, b);
        at[3] = is_rigid(p, b);
    }
    bool same = t->graph.used == count && memcmp(t->graph.at, graph, count * sizeof *graph) == 0;
    memcpy(t->graph.at, graph, count * sizeof *graph);
    t->graph.used = count;
    return same;
}

static int32_t find_root(int32_t *link, int32_t i) {
    while (link[i] != i) {
        link[i] = link[link[i]];
        i = link[i];
    }
    return i;
}

// Of the joints those, in their order, that join what no earlier one has joined; the world is one more body.
static void choose_joints(const KlTree *t, const KlProblem *p, int32_t *link, int32_t *degree, uint8_t *taken) {
    for (int32_t i = 0; i <= p->body_count; i++) {
        link[i] = i;
        degree[i] = 0;
    }
    for (int32_t b = 0; b < p->joint_count; b++) {
        int32_t ends[2] = {p->block_body[2 * b], p->block_body[2 * b + 1]};
        for (int32_t side = 0; side < 2; side++) {
            ends[side] = ends[side] < 0 ? p->body_count : ends[side];
        }
        int32_t one = find_root(link, ends[0]), two = find_root(link, ends[1]);
        taken[b] = one != two && t->graph.at[4 + 4 * b] != 0;
        if (taken[b]) {
            link[one] = two;
            degree[ends[0]]++;
            degree[ends[1]]++;
        }
    }
}

// Scratch of a plan, all of it in t->work.
typedef struct Plan {
    int32_t *link, *degree, *root;  // (bodies + 1)
    int32_t *start, *list;          // (bodies + 2), (2 joints) joints taken out at each body, the world last
    uint8_t *taken;                 // (joints)
    int32_t count;                  // nodes so far
} Plan;

static void list_joints(const KlProblem *p, Plan *plan) {
    int32_t bodies = p->body_count;
    plan->start[0] = 0;
    for (int32_t i = 0; i <= bodies; i++) {
        plan->start[i + 1] = plan->start[i] + plan->degree[i];
        plan->link[i] = plan->start[i];
    }
    for (int32_t b = 0; b < p->joint_count; b++) {
        for (int32_t side = 0; side < 2 && plan->taken[b] != 0; side++) {
            int32_t body = p->block_body[2 * b + side];
            plan->list[plan->link[body < 0 ? bodies : body]++] = b;
        }
    }
}

static void add_node(KlTree *t, Plan *plan, int32_t body, int32_t parent, int32_t block, int32_t side) {
    KlTreeNode *n = &t->node.at[plan->count];
    n->body = body;
    n->parent = parent;
    n->block = block;
    n->side = side;
    t->place[body] = plan->count++;
}

// The bodies that hang on this one, or on the world (parent -1).
static void add_children(KlTree *t, const KlProblem *p, Plan *plan, int32_t body, int32_t parent) {
    int32_t at = body < 0 ? p->body_count : body;
    for (int32_t e = plan->start[at]; e < plan->start[at + 1]; e++) {
        int32_t b = plan->list[e], side = p->block_body[2 * b] == body ? 1 : 0, child = p->block_body[2 * b + side];
        if (child >= 0 && t->place[child] < 0) {
            add_node(t, plan, child, parent, b, side);
        }
    }
}

// A tree that the world does not hold begins at the body with most joints, the first of them.
static void choose_roots(const KlProblem *p, Plan *plan) {
    for (int32_t i = 0; i <= p->body_count; i++) {
        plan->root[i] = -1;
    }
    for (int32_t i = 0; i < p->body_count; i++) {
        int32_t tree = find_root(plan->link, i);
        if (plan->root[tree] < 0 || plan->degree[i] > plan->degree[plan->root[tree]]) {
            plan->root[tree] = i;
        }
    }
    plan->root[find_root(plan->link, p->body_count)] = -1;
}

// Those of a subtree follow each other, so that those on a way to the root lie close.
static void number_freedoms(KlTree *t, const KlProblem *p, int32_t *size, int32_t *next) {
    for (int32_t i = 0; i < p->body_count; i++) {
        KlTreeNode *n = &t->node.at[i];
        n->freedoms = size[i] = 6 - (n->block < 0 ? 0 : kl_block_rows(p, n->block));
    }
    for (int32_t i = p->body_count - 1; i >= 0; i--) {
        if (t->node.at[i].parent >= 0) {
            size[t->node.at[i].parent] += size[i];
        }
    }
    t->freedoms = 0;
    for (int32_t i = 0; i < p->body_count; i++) {
        KlTreeNode *n = &t->node.at[i];
        int32_t *from = n->parent >= 0 ? &next[n->parent] : &t->freedoms;
        n->first_freedom = *from;
        next[i] = *from + n->freedoms;
        *from += size[i];
    }
}

static void make_forest(KlTree *t, const KlProblem *p, Plan *plan) {
    choose_joints(t, p, plan->link, plan->degree, plan->taken);
    choose_roots(p, plan);
    list_joints(p, plan);
    plan->count = 0;
    for (int32_t i = 0; i < p->body_count; i++) {
        t->place[i] = -1;
    }
    int32_t done = 0;
    add_children(t, p, plan, -1, -1);
    for (int32_t tree = -1; tree <= p->body_count; tree++) {
        if (tree >= 0 && plan->root[tree] >= 0) {
            add_node(t, plan, plan->root[tree], -1, -1, 0);
        }
        for (; done < plan->count; done++) {
            add_children(t, p, plan, t->node.at[done].body, done);
        }
    }
    number_freedoms(t, p, plan->link, plan->degree);
}

// The rows that the forest keeps.
static bool keep_rows(KlTree *t, const KlProblem *p, const uint8_t *taken) {
    int32_t rows = 0;
    KlProblemSize size = {.limit_count = p->limit_count, .contact_count = p->contact_count};
    for (int32_t b = 0; b < p->joint_count; b++) {
        if (!taken[b] && is_rigid(p, b)) {
            return false;  // it closes a loop
        }
        rows += taken[b] ? 0 : kl_block_rows(p, b);
        size.joint_count += taken[b] ? 0 : 1;
    }
    size.joint_rows = rows;
    rows += p->limit_count + 3 * p->contact_count;
    int32_t out = p->joint_rows - size.joint_rows, rigid = rows - size.joint_rows;
    if (out < KL_TREE_LEAST || out < rows || rows > KL_TREE_ROWS || rigid > t->freedoms + MOST_STRESSES ||
        rows * t->freedoms > KL_TREE_RESPONSES || rows * rows * t->freedoms > KL_TREE_PRODUCTS) {
        return false;
    }
    size.nonzeros = rows * rows;
    if (kl_problem_reshape(t->rest, &size) != KL_OK) {
        return false;
    }
    KlProblem *rest = t->rest;
    KlTreeBlock *kept = t->block;
    int32_t row = 0;
    for (int32_t b = 0; b < p->block_count; b++) {
        if (b < p->joint_count && taken[b]) {
            continue;
        }
        int32_t block = (int32_t)(kept - t->block);
        *kept++ = (KlTreeBlock){.block = b, .row = p->block_start[b], .first = row, .rows = kl_block_rows(p, b)};
        rest->block_start[block] = row;
        rest->block_id[block] = p->block_id[b];
        for (int32_t i = p->block_start[b]; i < p->block_start[b + 1]; i++, row++) {
            rest->softening[row] = p->softening[i];
        }
    }
    t->kept = row;
    rest->dt = p->dt;
    kl_lanes_copy(p->friction, p->contact_count, rest->friction);
    return true;
}

bool kl_tree_plan(KlTree *t, const KlProblem *p) {
    size_t bodies = (size_t)p->body_count, joints = (size_t)p->joint_count;
    Plan plan = {.link = t->work.at + bodies};
    t->place = t->work.at;
    plan.degree = plan.link + bodies + 1;
    plan.root = plan.degree + bodies + 1;
    plan.start = plan.root + bodies + 1;
    plan.list = plan.start + bodies + 2;
    plan.taken = (uint8_t *)(plan.list + 2 * joints);
    if (!same_graph(t, p, plan.list + 3 * joints + 1)) {
        make_forest(t, p, &plan);
    }
    return keep_rows(t, p, plan.taken);
}
