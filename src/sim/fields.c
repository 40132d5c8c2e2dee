// The field table: everything worth showing, with unit, shape and where it lies. Pointers are fixed
// when the simulation is made.
#include "sim/sim.h"

#include <string.h>

static void add(KlSim *sim, KlField field) {
    KL_ASSERT(sim->field_count < KL_FIELD_CAPACITY, "the field table has room");
    sim->fields[sim->field_count++] = field;
}

#define REAL(name, unit_text, words, pointer, row_capacity, column_count, rows_now) \
    add(sim, (KlField){.id = name,                                                  \
                       .unit = unit_text,                                           \
                       .text = words,                                               \
                       .data = pointer,                                             \
                       .rows = row_capacity,                                        \
                       .columns = column_count,                                     \
                       .row_count = rows_now,                                       \
                       .type = KL_FIELD_F64})
#define INT(name, unit_text, words, pointer, row_capacity, column_count, rows_now) \
    add(sim, (KlField){.id = name,                                                 \
                       .unit = unit_text,                                          \
                       .text = words,                                              \
                       .data = pointer,                                            \
                       .rows = row_capacity,                                       \
                       .columns = column_count,                                    \
                       .row_count = rows_now,                                      \
                       .type = KL_FIELD_I32})

static void add_state(KlSim *sim) {
    int32_t bodies = sim->body_count, dofs = sim->dof_count, joints = sim->joint_count;
    REAL("time", "s", "Simulated time", &sim->field_time, 1, 1, NULL);
    REAL("pose", "m, -", "Position of the centre of mass, quaternion (w, x, y, z)", sim->now.pose, bodies, 7, NULL);
    REAL("twist", "m/s, rad/s", "Velocity of the centre of mass, angular velocity", sim->now.twist, bodies, 6, NULL);
    REAL("body_impulse", "N s, N m s", "J^T lambda of the last step, about the centre of mass", sim->impulse, bodies, 6,
         NULL);
    REAL("joint_position", "m, rad", "Coordinates of all degrees of freedom, joint by joint", sim->now.position, dofs,
         1, NULL);
    REAL("joint_velocity", "m/s, rad/s", "Rates of the joint coordinates", sim->joint_velocity, dofs, 1, NULL);
    REAL("joint_effort", "N, N m", "Actuation effort of the last step", sim->dof_effort, dofs, 1, NULL);
    REAL("joint_wrench", "N, N m", "Reaction on the follower about the joint's position, world frame",
         sim->joint_wrench, joints, 6, NULL);
    REAL("joint_frame", "m, -", "Pose of the follower's joint frame in the world", sim->joint_frame, joints, 7, NULL);
    REAL("joint_residual", "m, rad", "Largest |f_J| of each joint", sim->joint_residual, joints, 1, NULL);
}

static void add_contacts(KlSim *sim) {
    int32_t capacity = sim->settings.max_contacts;
    const int32_t *count = &sim->contact_count;
    REAL("contact_position", "m", "Midway between the two surfaces, world frame", sim->contact_position, capacity, 3,
         count);
    REAL("contact_frame", "", "Rows t, o, n in the world frame; n points from body A to B", sim->contact_frame,
         capacity, 9, count);
    REAL("contact_gap", "m", "Signed distance, negative when penetrating", sim->contact_gap, capacity, 1, count);
    REAL("contact_force", "N", "On body B, world frame", sim->contact_force, capacity, 3, count);
    REAL("contact_friction", "", "Coefficient mu", sim->contact_friction, capacity, 1, count);
    INT("contact_bodies", "", "Bodies A and B, -1 = world", sim->contact_bodies, capacity, 2, count);
    INT("contact_geoms", "", "Geoms A and B", sim->contact_geoms, capacity, 2, count);
    INT("contact_mode", "", "0 open, 1 stick, 2 slip", sim->contact_mode, capacity, 1, count);
    add(sim, (KlField){.id = "contact_id",
                       .unit = "",
                       .text = "Stable between steps",
                       .data = sim->contact_id,
                       .rows = capacity,
                       .columns = 1,
                       .row_count = count,
                       .type = KL_FIELD_U64});
}

static void add_solution(KlSim *sim) {
    int32_t rows = kl_size_rows(&sim->capacity);
    REAL("lambda", "N s, N m s", "Reactions of the last step, rows of joints, limits, contacts", sim->lambda, rows, 1,
         &sim->dim);
    REAL("velocity", "m/s, rad/s", "v+ = D lambda + v_f of the last step", sim->velocity, rows, 1, &sim->dim);
    REAL("stage_time", "s", "Wall time of each stage of the last step", sim->stage_time, 1, kl_stage_count(), NULL);
}

#undef REAL
#undef INT

void kl_build_fields(KlSim *sim) {
    add_state(sim);
    add_contacts(sim);
    add_solution(sim);
}

int32_t kl_sim_field_count(const KlSim *sim) { return sim->field_count; }

const KlField *kl_sim_field(const KlSim *sim, int32_t index) {
    return index >= 0 && index < sim->field_count ? &sim->fields[index] : NULL;
}

const KlField *kl_sim_find_field(const KlSim *sim, const char *id) {
    for (int32_t i = 0; i < sim->field_count; i++) {
        if (strcmp(sim->fields[i].id, id) == 0) {
            return &sim->fields[i];
        }
    }
    return NULL;
}
