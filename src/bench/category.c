// Sample categories (paper, Sec. "Sample Categories"): by counts, densities and the rank of the joint rows.
//   d_j = n_jd / 6 n_b,  d_c = 3 n_c / 6 n_b,  d_jlc = n_d / 6 n_b
#include "base/status.h"
#include "dual/rank.h"
#include "kl.h"

const char *kl_category_name(KlCategory c) {
    static const char *const names[KL_CATEGORY_COUNT] = {
        "unconstrained",  "independent-joints", "redundant-joints", "dense-joints",
        "single-contact", "sparse-contacts",    "dense-contacts",   "dense-constraints",
    };
    return (unsigned)c < KL_CATEGORY_COUNT ? names[c] : "unknown";
}

static KlStatus category_of_joints(const KlProblem *p, KlCategory *category) {
    int32_t rank;
    KL_TRY(kl_problem_jacobian_rank(p, p->joint_rows, &rank));
    bool dense = p->joint_rows >= 6 * p->body_count;
    *category = rank == p->joint_rows ? KL_CATEGORY_INDEPENDENT_JOINTS
                : dense               ? KL_CATEGORY_DENSE_JOINTS
                                      : KL_CATEGORY_REDUNDANT_JOINTS;
    return KL_OK;
}

static KlCategory category_of_contacts(const KlProblem *p) {
    if (p->joint_count >= 1 && p->dim > 6 * p->body_count) {
        return KL_CATEGORY_DENSE_CONSTRAINTS;
    }
    if (p->contact_count == 1) {
        return KL_CATEGORY_SINGLE_CONTACT;
    }
    return p->contact_count <= 2 * p->body_count ? KL_CATEGORY_SPARSE_CONTACTS : KL_CATEGORY_DENSE_CONTACTS;
}

KlStatus kl_problem_category(const KlProblem *problem, KlCategory *category) {
    const KlProblem *p = problem;
    *category = KL_CATEGORY_UNCONSTRAINED;
    if (p->dim == 0) {
        return KL_OK;
    }
    if (!kl_problem_has_bodies(p)) {
        return kl_fail(KL_ERR_ARGUMENT, "the category of a problem depends on its bodies: this one has D alone");
    }
    if (p->contact_count == 0 && p->joint_count == 0) {
        return kl_fail(KL_ERR_ARGUMENT, "limits without joints belong to no category");
    }
    if (p->contact_count == 0) {
        return category_of_joints(p, category);
    }
    *category = category_of_contacts(p);
    return KL_OK;
}
