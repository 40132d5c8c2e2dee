// Sample categories of dual problems (paper, Sec. "Sample Categories"): by contacts, bodies and the rank
// of the joint Jacobian.
//
//   d_j = n_jd / 6 n_b   d_c = 3 n_c / 6 n_b   d_jlc = n_d / 6 n_b
#include "base/status.h"
#include "dual/rank.h"
#include "kl.h"

const char *kl_category_name(KlCategory c) {
    static const char *const names[KL_CATEGORY_COUNT] = {
        "unconstrained",  "independent-joints", "redundant-joints", "dense-joints",
        "single-contact", "sparse-contacts",    "dense-contacts",   "dense-constraints",
    };
    return c >= 0 && c < KL_CATEGORY_COUNT ? names[c] : "unknown";
}

static KlStatus joint_category(const KlProblem *p, KlCategory *category) {
    int32_t rank;
    KL_TRY(kl_problem_jacobian_rank(p, p->joint_rows, &rank));
    if (rank == p->joint_rows) {
        *category = KL_CATEGORY_INDEPENDENT_JOINTS;
    } else {
        *category = p->joint_rows < 6 * p->body_count ? KL_CATEGORY_REDUNDANT_JOINTS : KL_CATEGORY_DENSE_JOINTS;
    }
    return KL_OK;
}

KlStatus kl_problem_category(const KlProblem *p, KlCategory *category) {
    *category = KL_CATEGORY_UNCONSTRAINED;
    if (p->contact_count == 0 && p->joint_count == 0) {
        return KL_OK;
    }
    if (p->body_count == 0) {
        return kl_fail(KL_ERR_ARGUMENT, "a problem without bodies has no category: densities need their number");
    }
    if (p->contact_count == 0) {
        return joint_category(p, category);
    }
    if (p->joint_count > 0 && p->dim > 6 * p->body_count) {
        *category = KL_CATEGORY_DENSE_CONSTRAINTS;
    } else if (p->contact_count == 1) {
        *category = KL_CATEGORY_SINGLE_CONTACT;
    } else if (p->contact_count <= 2 * p->body_count) {
        *category = KL_CATEGORY_SPARSE_CONTACTS;
    } else {  // d_c > 1 follows from n_c > 2 n_b
        *category = KL_CATEGORY_DENSE_CONTACTS;
    }
    return KL_OK;
}
