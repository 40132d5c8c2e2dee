// Every solver, in the order of menus and tables. SOLVER(name) is src/solver/name.c, which defines
// `const KlMethod kl_method_name`; its id is the one in its own table.
#define KL_SOLVER_LIST(SOLVER) \
    SOLVER(pgs_ccp)            \
    SOLVER(pgs_ccp_nds)        \
    SOLVER(pgs_ncp)            \
    SOLVER(nbgs)               \
    SOLVER(raisim)             \
    SOLVER(raisim_ds)          \
    SOLVER(raisim_ds_es)       \
    SOLVER(prox)               \
    SOLVER(admm_ccp)           \
    SOLVER(admm_ncp_fp)        \
    SOLVER(admm_ncp_la)        \
    SOLVER(admm_ncp_sa)        \
    SOLVER(admm_ncp_plus)      \
    SOLVER(newton_ncp)
