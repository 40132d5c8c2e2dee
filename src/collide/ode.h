// ODE for the pairs of round shapes and meshes.
#ifndef KL_COLLIDE_ODE_H
#define KL_COLLIDE_ODE_H

#include "collide/shape.h"

struct dContactGeom;

typedef struct KlOdeBuffer {
    struct dContactGeom *contacts;
    int32_t capacity;
} KlOdeBuffer;

KlStatus kl_ode_enter(void);                             // prepares ODE for this thread; cheap when it is prepared
KlStatus kl_ode_create(KlShape *shape, KlArena *arena);  // the ODE geoms of a shape, none for planes
void kl_ode_destroy(KlShape *shape);
void kl_ode_box(KlShape *shape);  // the world box of a shape as placed

// Contacts with gap <= reach, appended to `list`.
KlStatus kl_ode_contacts(KlShape *a, KlShape *b, double reach, KlOdeBuffer *buffer, KlRawList *list);

#endif
