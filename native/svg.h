// Pictures as SVG text: line plots and heatmaps, in the colours and dashes that the page uses.
#ifndef KINLOOP_SVG_H
#define KINLOOP_SVG_H

#include <stdio.h>

#include "kl.h"

// One colour and dash per solver everywhere: the word before the first hyphen of its id chooses the hue,
// the place within that group shade and dash.
typedef struct SvgStyle {
    char colour[8];    // "#rrggbb"
    const char *dash;  // SVG stroke-dasharray, "" = solid
} SvgStyle;
SvgStyle svg_solver_style(const char *id);  // unknown ids get a grey line

typedef struct SvgCurve {
    const char *name;
    SvgStyle style;
    const double *x, *y;  // (count); points that are not finite break the line
    int32_t count;
} SvgCurve;

typedef struct SvgPlot {
    const char *title, *x_label, *y_label;
    bool log_x, log_y;  // values <= 0 are left out
    bool stairs;
    double y_min, y_max;  // both 0: from the curves
    const SvgCurve *curves;
    int32_t count;
} SvgPlot;
void svg_plot(FILE *file, const SvgPlot *plot);

// values (rows x columns), row 0 at the bottom; colours are viridis on a logarithmic scale. Cells that
// are not finite are grey; `hatched` (may be NULL) marks cells, e.g. those that did not converge.
typedef struct SvgHeatmap {
    const char *title, *x_label, *y_label, *value_label;
    const double *x, *y;  // (columns), (rows)
    const double *values;
    const bool *hatched;
    int32_t columns, rows;
} SvgHeatmap;
void svg_heatmap(FILE *file, const SvgHeatmap *map);

#endif
