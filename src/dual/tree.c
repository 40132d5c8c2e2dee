#include "dual/tree_parts.h"

#include <math.h>
#include <string.h>

#include "base/memory.h"
#include "math/lanes.h"
#include "math/vec.h"

static const double CANCELLED = 1e-13;  // of the reactions: wrenches that are rounding

KlProblemSize kl_tree_rest_size(const KlProblemSize *size) {
    int32_t rows = kl_size_rows(size) < KL_TREE_ROWS ? kl_size_rows(size) : KL_TREE_ROWS;
    int32_t contacts = size->contact_count < KL_TREE_ROWS / 3 ? size->contact_count : KL_TREE_ROWS / 3;
    return (KlProblemSize){.joint_rows = rows,
                           .joint_count = rows,
                           .limit_count = rows,
                           .contact_count = contacts,
                           .nonzeros = rows * rows};
}

KlStatus kl_tree_reserve(KlTree *t, const KlProblemSize *capacity) {
    size_t bodies = (size_t)capacity->body_count, joints = (size_t)capacity->joint_count;
    KlProblemSize rest = kl_tree_rest_size(capacity);
    size_t responses = 6 * bodies * (size_t)rest.joint_rows;
    if (t->rest == NULL || t->rows < rest.joint_rows || t->contacts < rest.contact_count) {
        kl_problem_destroy(t->rest);
        KL_TRY(kl_problem_create(&rest, &t->rest));
        t->rows = rest.joint_rows;
        t->contacts = rest.contact_count;
        t->pattern = -1;
    }
    bool ok = KL_ROOM(t->node, bodies) && KL_ROOM(t->graph, 4 * joints + 1) &&
              KL_ROOM(t->work, 5 * bodies + 7 * joints + 7) &&
              KL_ROOM(t->response, responses < KL_TREE_RESPONSES ? responses : KL_TREE_RESPONSES);
    return ok ? KL_OK : KL_ERR_MEMORY;
}

void kl_tree_release(KlTree *t) {
    kl_problem_destroy(t->rest);
    kl_free(t->node.at);
    kl_free(t->graph.at);
    kl_free(t->work.at);
    kl_free(t->response.at);
    *t = (KlTree){0};
}

// ---- six numbers -----------------------------------------------------------------------------------

static inline KlSix take_times(KlSix from, double factor, KlSix a) {  // from - factor a
    KlPair f = kl_both(factor);
    return (KlSix){from.low - f * a.low, from.middle - f * a.middle, from.high - f * a.high};
}

static inline KlSix add_times(KlSix to, double factor, KlSix a) {
    KlPair f = kl_both(factor);
    return (KlSix){to.low + f * a.low, to.middle + f * a.middle, to.high + f * a.high};
}

static inline KlSix times_six(double factor, KlSix a) {
    KlPair f = kl_both(factor);
    return (KlSix){f * a.low, f * a.middle, f * a.high};
}

static inline double dot_six(KlSix a, KlSix b) {
    KlPair sum = (a.low * b.low + a.middle * b.middle) + a.high * b.high;
    return sum[0] + sum[1];
}

// Sum of rows (6 apart) times x.
static inline KlSix combine(const double *rows, const double *x, int32_t count, KlSix sum) {
    for (int32_t i = 0; i < count; i++, rows += 6) {
        sum = add_times(sum, x[i], kl_load6(rows));
    }
    return sum;
}

// A wrench about the centre of mass (6), about the origin.
static void move_wrench(const double centre[3], const double wrench[6], double moved[6]) {
    double arm[3];
    kl_cross3(centre, wrench, arm);
    kl_copy3(wrench, moved);
    kl_add3(wrench + 3, arm, moved + 3);
}

// ---- inertia ---------------------------------------------------------------------------------------

// A body's about the origin: [m 1, -m [c]x; m [c]x, I - m [c]x [c]x].
static void set_inertia(const KlProblem *p, KlTreeNode *n) {
    const double *c = n->centre, *own = p->inertia + 9 * (size_t)n->body;
    double m = p->mass[n->body], x = m * c[0], y = m * c[1], z = m * c[2], square = m * kl_dot3(c, c);
    double *i = n->inertia;
    KlPair none = {0.0, 0.0};
    kl_six_store(i, (KlSix){{m, 0.0}, none, {z, -y}});
    kl_six_store(i + 6, (KlSix){{0.0, m}, {0.0, -z}, {0.0, x}});
    kl_six_store(i + 12, (KlSix){none, {m, y}, {-x, 0.0}});
    kl_six_store(i + 18, (KlSix){{0.0, -z}, {y, own[0] - x * c[0] + square}, {own[1] - x * c[1], own[2] - x * c[2]}});
    kl_six_store(i + 24, (KlSix){{z, 0.0}, {-x, own[3] - y * c[0]}, {own[4] - y * c[1] + square, own[5] - y * c[2]}});
    kl_six_store(i + 30, (KlSix){{-y, x}, {0.0, own[6] - z * c[0]}, {own[7] - z * c[1], own[8] - z * c[2] + square}});
}

static inline KlSix times_inertia(const double inertia[36], const double x[6]) {  // which is symmetric
    return combine(inertia, x, 6, (KlSix){0});
}

// Free motions and their momenta before they are made orthonormal. A free body's are unit motions: rows of the inertia.
static void begin_motions(KlTreeNode *n) {
    for (int32_t i = 0; i < n->freedoms; i++) {
        double *motion = n->motion + 6 * i;
        kl_tree_free_motion(n, i, motion);
        kl_six_store(n->momentum + 6 * i,
                     n->block < 0 ? kl_load6(n->inertia + 6 * i) : times_inertia(n->inertia, motion));
    }
}

// Free motions made orthonormal in the inertia, and their momenta (Gram and Schmidt). Nothing waits for their roots.
static bool normalise_motions(KlTreeNode *n) {
    begin_motions(n);
    for (int32_t i = 0; i < n->freedoms; i++) {
        KlSix motion = kl_load6(n->motion + 6 * i), momentum = kl_load6(n->momentum + 6 * i);
        double inverse = 1.0 / dot_six(motion, momentum);
        if (!(inverse > 0.0 && isfinite(inverse))) {
            return false;
        }
        for (int32_t j = i + 1; j < n->freedoms; j++) {
            double *other = n->motion + 6 * j, *others = n->momentum + 6 * j;
            double share = inverse * dot_six(momentum, kl_load6(other));
            kl_six_store(other, take_times(kl_load6(other), share, motion));
            kl_six_store(others, take_times(kl_load6(others), share, momentum));
        }
        double root = sqrt(inverse);
        kl_six_store(n->motion + 6 * i, times_six(root, motion));
        kl_six_store(n->momentum + 6 * i, times_six(root, momentum));
    }
    return true;
}

// What the parent feels of the subtree behind a joint: its inertia less that of the free motions.
static void add_inertia(const KlTreeNode *n, double parent[36]) {
    for (int32_t i = 0; i < 6; i++) {
        KlSix row = kl_load6(n->inertia + 6 * i);
        for (int32_t j = 0; j < n->freedoms; j++) {
            row = take_times(row, n->momentum[6 * j + i], kl_load6(n->momentum + 6 * j));
        }
        kl_six_store(parent + 6 * i, add_times(kl_load6(parent + 6 * i), 1.0, row));
    }
}

static bool articulate(KlTree *t) {
    const KlProblem *p = t->problem;
    KlTreeNode *nodes = t->node.at;
    for (int32_t i = 0; i < p->body_count; i++) {
        KlTreeNode *n = &nodes[i];
        if (!kl_tree_place_joint(p, nodes, n)) {
            return false;
        }
        set_inertia(p, n);
        kl_tree_close_gap(p, n);
    }
    for (int32_t i = p->body_count - 1; i >= 0; i--) {
        KlTreeNode *n = &nodes[i];
        if (!normalise_motions(n)) {
            return false;
        }
        if (n->parent >= 0) {
            add_inertia(n, nodes[n->parent].inertia);
        }
    }
    return true;
}

// ---- motion under wrenches -------------------------------------------------------------------------

// Twists of all bodies (past those without reactions) under n->wrench of each, from leaves to roots and back; then
// n->wrench is that on the subtree.
static void move_bodies(KlTree *t) {
    KlTreeNode *nodes = t->node.at;
    int32_t count = t->problem->body_count;
    for (int32_t i = count - 1; i >= 0; i--) {
        KlTreeNode *n = &nodes[i];
        KlSix wrench = kl_load6(n->wrench), taken = times_inertia(n->inertia, n->gap);
        wrench = take_times(wrench, 1.0, taken);
        for (int32_t j = 0; j < n->freedoms; j++) {
            n->response[j] = dot_six(kl_load6(n->motion + 6 * j), wrench);
        }
        if (n->parent >= 0) {
            double *parent = nodes[n->parent].wrench;
            for (int32_t j = 0; j < n->freedoms; j++) {
                wrench = take_times(wrench, n->response[j], kl_load6(n->momentum + 6 * j));
            }
            kl_six_store(parent, add_times(kl_load6(parent), 1.0, wrench));
        }
    }
    for (int32_t i = 0; i < count; i++) {
        KlTreeNode *n = &nodes[i];
        KlSix twist = kl_load6(n->gap);
        if (n->parent >= 0) {
            KlSix carried = kl_load6(nodes[n->parent].twist);
            twist = add_times(twist, 1.0, carried);
            for (int32_t j = 0; j < n->freedoms; j++) {
                n->response[j] -= dot_six(kl_load6(n->momentum + 6 * j), carried);
            }
        }
        kl_six_store(n->twist, combine(n->motion, n->response, n->freedoms, twist));
    }
}

// ---- responses to the kept rows --------------------------------------------------------------------

static void stretch(KlTreeBlock *b, const KlTreeNode *n) {
    int32_t k = n->block < 0 && b->end[0] == 0 ? 0 : 1, end = n->first_freedom + n->freedoms;
    bool fresh = b->end[k] == 0;
    b->begin[k] = fresh || n->first_freedom < b->begin[k] ? n->first_freedom : b->begin[k];
    b->end[k] = end > b->end[k] ? end : b->end[k];
}

// Between two trees the second stretch may reach over the first: then it is all. Whether it is.
static bool part_stretches(KlTreeBlock *b) {
    if (b->begin[0] < b->end[1] && b->begin[1] < b->end[0]) {
        b->begin[1] = b->begin[0] < b->begin[1] ? b->begin[0] : b->begin[1];
        b->end[1] = b->end[0] > b->end[1] ? b->end[0] : b->end[1];
        b->begin[0] = b->end[0] = 0;
        return true;
    }
    return false;
}

// Where a constraint's rows press their bodies.
static void place_rows(KlTree *t, KlTreeBlock *b) {
    const KlProblem *p = t->problem;
    for (int32_t side = 0; side < 2; side++) {
        int32_t body = p->block_body[2 * b->block + side];
        b->node[side] = body >= 0 ? t->place[body] : -1;
        for (int32_t i = 0; i < b->rows && body >= 0; i++) {
            move_wrench(t->node.at[b->node[side]].centre, p->jacobian + 12 * (size_t)(b->row + i) + 6 * side,
                        t->wrench + 12 * (b->first + i) + 6 * side);
        }
    }
}

// v_f with the motion of the forest alone.
static void give_velocities(const KlTree *t, const KlTreeBlock *b) {
    for (int32_t i = 0; i < b->rows; i++) {
        double velocity = t->problem->free_velocity[b->row + i];
        for (int32_t side = 0; side < 2; side++) {
            if (b->node[side] >= 0) {
                const double *twist = t->node.at[b->node[side]].twist;
                velocity += kl_lanes_dot6(t->wrench + 12 * (b->first + i) + 6 * side, twist);
            }
        }
        t->rest->free_velocity[b->first + i] = velocity;
    }
}

// Responses of all joints on the way to the roots to unit reactions of a constraint's rows; those of others stay 0.
static void respond(KlTree *t, KlTreeBlock *b) {
    KlSix wrench[2][6];
    int32_t node[2] = {b->node[0], b->node[1]};
    for (int32_t side = 0; side < 2; side++) {
        for (int32_t i = 0; i < b->rows && node[side] >= 0; i++) {
            wrench[side][i] = kl_load6(t->wrench + 12 * (b->first + i) + 6 * side);
        }
    }
    while (node[0] >= 0 || node[1] >= 0) {  // of two the later one, on which the other cannot hang
        int32_t side = node[1] > node[0] ? 1 : 0, at = node[side];
        const KlTreeNode *n = &t->node.at[at];
        double *own = t->response.at + (size_t)n->first_freedom * (size_t)t->kept + b->first;
        for (int32_t i = 0; i < b->rows && node[1 - side] == at; i++) {
            wrench[side][i] = add_times(wrench[side][i], 1.0, wrench[1 - side][i]);
        }
        for (int32_t j = 0; j < n->freedoms; j++, own += t->kept) {
            KlSix motion = kl_load6(n->motion + 6 * j), momentum = kl_load6(n->momentum + 6 * j);
            for (int32_t i = 0; i < b->rows; i++) {
                double share = dot_six(motion, wrench[side][i]);
                own[i] = share;
                if (n->parent >= 0) {
                    wrench[side][i] = take_times(wrench[side][i], share, momentum);
                }
            }
        }
        t->crosses = t->crosses || (n->block < 0 && b->end[0] > 0);
        stretch(b, n);
        node[1 - side] = node[1 - side] == at ? -1 : node[1 - side];
        node[side] = n->parent;
    }
    t->crosses = part_stretches(b) || t->crosses;
}

// D of `rows` (1 or 3) rows from `own` on and `columns` (1, 2 or 4) from `first` on: += the products of their responses
// in the freedoms [begin, end).
static inline void add_tile(const KlTree *t, int32_t rows, int32_t own, int32_t columns, int32_t first, int32_t begin,
                            int32_t end) {
    int32_t kept = t->kept;
    double *to = t->rest->delassus_value + own * kept + first;
    const double *response = t->response.at + (size_t)begin * (size_t)kept;
    KlPair sum[3][2] = {{{0.0}}};
    for (int32_t k = begin; k < end; k++, response += kept) {
        for (int32_t j = 0; j < columns; j += 2) {
            KlPair column = columns > 1 ? kl_load(response + first + j) : kl_both(response[first]);
            for (int32_t i = 0; i < rows; i++) {
                sum[i][j / 2] += kl_both(response[own + i]) * column;
            }
        }
    }
    for (int32_t i = 0; i < rows; i++, to += kept) {
        for (int32_t j = 0; j < columns; j += 2) {
            if (columns > 1) {
                kl_store(to + j, kl_load(to + j) + sum[i][j / 2]);
            } else {
                *to += sum[i][0][0];
            }
        }
    }
}

static inline void add_rows(const KlTree *t, int32_t rows, int32_t own, int32_t first, int32_t columns, int32_t begin,
                            int32_t end) {
    int32_t j = 0;
    for (; j + 4 <= columns; j += 4) {
        add_tile(t, rows, own, 4, first + j, begin, end);
    }
    if (j + 2 <= columns) {
        add_tile(t, rows, own, 2, first + j, begin, end);
        j += 2;
    }
    if (j < columns) {
        add_tile(t, rows, own, 1, first + j, begin, end);
    }
}

static void add_products(const KlTree *t, const KlTreeBlock *b, int32_t first, int32_t columns, int32_t begin,
                         int32_t end) {
    if (b->rows == 3) {
        add_rows(t, 3, b->first, first, columns, begin, end);
        return;
    }
    for (int32_t i = 0; i < b->rows; i++) {
        add_rows(t, 1, b->first + i, first, columns, begin, end);
    }
}

// ---- the smaller problem ---------------------------------------------------------------------------

static void fill_pattern(KlTree *t) {
    KlProblem *rest = t->rest;
    for (int32_t i = 0; i <= t->kept && t->pattern != t->kept; i++) {
        rest->delassus_start[i] = i * t->kept;
        for (int32_t j = 0; j < t->kept && i < t->kept; j++) {
            rest->delassus_index[i * t->kept + j] = j;
        }
    }
    t->pattern = t->kept;
}

// The freedoms that answer to both, of one stretch of each.
static bool share_stretch(const KlTreeBlock *b, int32_t x, const KlTreeBlock *c, int32_t y, int32_t *begin,
                          int32_t *end) {
    *begin = b->begin[x] > c->begin[y] ? b->begin[x] : c->begin[y];
    *end = b->end[x] < c->end[y] ? b->end[x] : c->end[y];
    return *begin < *end;
}

// Columns that share the same freedoms with a constraint are multiplied together.
static void add_stretch(const KlTree *t, const KlTreeBlock *b, int32_t x, int32_t y) {
    const KlTreeBlock *end = t->block + t->rest->block_count;
    for (const KlTreeBlock *c = b; c < end;) {
        int32_t first = c->first, columns = c->rows, from, to, other_from, other_to;
        bool shared = share_stretch(b, x, c++, y, &from, &to);
        while (shared && c < end && share_stretch(b, x, c, y, &other_from, &other_to) && other_from == from &&
               other_to == to) {
            columns += c++->rows;
        }
        if (shared) {
            add_products(t, b, first, columns, from, to);
        }
    }
}

static void fill_values(const KlTree *t) {
    double *value = t->rest->delassus_value;
    int32_t kept = t->kept;
    kl_lanes_clear(kept * kept, value);
    for (int32_t k = 0; k < t->rest->block_count; k++) {
        for (int32_t pair = 0; pair < 4; pair += t->crosses ? 1 : 3) {  // most: roots with roots, ways with ways
            add_stretch(t, &t->block[k], pair / 2, pair % 2);
        }
    }
    for (int32_t i = 0; i < kept; i++) {
        for (int32_t j = 0; j < i; j++) {
            value[i * kept + j] = value[j * kept + i];
        }
    }
}

static void clear_wrenches(KlTree *t) {
    for (int32_t i = 0; i < t->problem->body_count; i++) {
        kl_lanes_clear(6, t->node.at[i].wrench);
    }
}

bool kl_tree_begin(KlTree *t, const KlProblem *p) {
    KlProblemSize size = kl_problem_size(p);
    if (!kl_tree_may_apply(&size) || kl_tree_reserve(t, &size) != KL_OK) {
        return false;
    }
    t->problem = p;
    if (!kl_tree_plan(t, p) || !articulate(t)) {
        return false;
    }
    clear_wrenches(t);
    move_bodies(t);
    t->crosses = false;
    kl_lanes_clear(t->kept * t->freedoms, t->response.at);
    for (int32_t k = 0; k < t->rest->block_count; k++) {
        KlTreeBlock *b = &t->block[k];
        place_rows(t, b);
        give_velocities(t, b);
        respond(t, b);
    }
    fill_pattern(t);
    fill_values(t);
    (void)kl_problem_keep(t->rest);
    return true;
}

void kl_tree_restrict(const KlTree *t, const double *lambda, double *kept) {
    for (int32_t k = 0; k < t->rest->block_count; k++) {
        const KlTreeBlock *b = &t->block[k];
        kl_lanes_copy(lambda + b->row, b->rows, kept + b->first);
    }
}

// The kept rows' wrenches on their bodies.
static void press(KlTree *t, const double *kept) {
    clear_wrenches(t);
    for (int32_t k = 0; k < t->rest->block_count; k++) {
        const KlTreeBlock *b = &t->block[k];
        for (int32_t side = 0; side < 2; side++) {
            if (b->node[side] >= 0) {
                kl_lanes_push(t->wrench + 12 * b->first + 6 * side, kept + b->first, b->rows,
                              t->node.at[b->node[side]].wrench);
            }
        }
    }
}

static void give_kept(const KlTree *t, const double *kept, double *lambda) {
    for (int32_t k = 0; k < t->rest->block_count; k++) {
        const KlTreeBlock *b = &t->block[k];
        kl_lanes_copy(kept + b->first, b->rows, lambda + b->row);
    }
}

void kl_tree_extend(KlTree *t, const double *kept, double *lambda) {
    press(t, kept);
    move_bodies(t);
    give_kept(t, kept, lambda);
    for (int32_t i = 0; i < t->problem->body_count; i++) {
        const KlTreeNode *n = &t->node.at[i];
        if (n->block >= 0) {
            double wrench[6];
            kl_six_store(wrench, take_times(times_inertia(n->inertia, n->twist), 1.0, kl_load6(n->wrench)));
            kl_tree_take_joint(t->problem, n, wrench, lambda);
        }
    }
}

// Whether the kept rows' wrenches cancel on every body, as those of points that one body presses on another do.
static bool cancels(const KlTree *t, const double *kept) {
    double most = 0.0, size = kl_lanes_largest(kept, t->kept);
    for (int32_t i = 0; i < t->problem->body_count; i++) {
        double own = kl_lanes_largest(t->node.at[i].wrench, 6);
        most = own > most ? own : most;
    }
    return most <= CANCELLED * size;
}

bool kl_tree_bear(KlTree *t, const double *kept, double *lambda) {
    KlTreeNode *nodes = t->node.at;
    press(t, kept);
    bool bears = !cancels(t, kept);
    if (!bears) {
        kl_lanes_clear(t->problem->joint_rows, lambda);
    }
    give_kept(t, kept, lambda);
    for (int32_t i = t->problem->body_count - 1; i >= 0 && bears; i--) {
        KlTreeNode *n = &nodes[i];
        if (n->parent >= 0) {
            kl_lanes_add(n->wrench, 6, nodes[n->parent].wrench);
        }
        if (n->block >= 0) {
            double wrench[6];
            kl_lanes_negate(n->wrench, 6, wrench);
            kl_tree_take_joint(t->problem, n, wrench, lambda);
        }
    }
    return bears;
}
