// ODE for the pairs of round shapes and meshes.
#ifndef KL_COLLIDE_ODE_H
#define KL_COLLIDE_ODE_H

#include "collide/shape.h"

struct dContactGeom;

typedef struct KlOdeBuffer {
    struct dContactGeom *contacts;
    int32_t capacity;
} KlOdeBuffer;

KlStatus kl_ode_enter(void);  // prepares ODE for this thread; cheap when it is prepared
// Makes the ODE geoms of a shape (not of planes); `reach` is how much the inflated one grows.
KlStatus kl_ode_create(KlShape *shape, double reach, KlArena *arena);
void kl_ode_destroy(KlShape *shape);
void kl_ode_place(KlShape *shape);  // moves them to the shape's pose and sets its world box
KlStatus kl_ode_contacts(const KlShape *a, const KlShape *b, double reach, KlOdeBuffer *buffer,
                         KlRawList *list);

#endif
