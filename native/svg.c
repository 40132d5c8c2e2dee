// Pictures as SVG text.
#include "svg.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

// --- styles ---------------------------------------------------------------------------------------

// Okabe and Ito's palette without yellow and black; shades and dashes within a group of solvers.
static const int hues[][3] = {{0xe6, 0x9f, 0x00}, {0x00, 0x9e, 0x73}, {0xcc, 0x79, 0xa7},
                              {0x56, 0xb4, 0xe9}, {0x00, 0x72, 0xb2}, {0xd5, 0x5e, 0x00}};
static const double shades[] = {0.0, -0.32, 0.22, -0.55, 0.12};
static const char *const dashes[] = {"", "8 4", "2 3", "10 3 2 3", "5 2 2 2 2 2"};

static size_t group_length(const char *id) { return strcspn(id, "-"); }

static bool same_group(const char *a, const char *b) {
    return group_length(a) == group_length(b) && strncmp(a, b, group_length(a)) == 0;
}

static int32_t first_of_group(int32_t kind) {
    int32_t i = 0;
    while (!same_group(kl_solver_kind(i)->id, kl_solver_kind(kind)->id)) {
        i++;
    }
    return i;
}

// Groups are numbered in the order of their first solvers.
static int group_number(int32_t kind) {
    int number = 0;
    for (int32_t i = 0; i < first_of_group(kind); i++) {
        number += first_of_group(i) == i;
    }
    return number;
}

static int place_in_group(int32_t kind) {
    int place = 0;
    for (int32_t i = 0; i < kind; i++) {
        place += same_group(kl_solver_kind(i)->id, kl_solver_kind(kind)->id);
    }
    return place;
}

SvgStyle svg_solver_style(const char *id) {
    SvgStyle style = {"#777777", ""};
    int32_t kind = kl_solver_kind_find(id);
    if (kind < 0) {
        return style;
    }
    int group = group_number(kind), place = place_in_group(kind), channel[3];
    double by = shades[place % 5];
    for (int c = 0; c < 3; c++) {
        int base = hues[group % 6][c], end = by < 0.0 ? 0 : 255;
        channel[c] = (int)floor(base + (end - base) * fabs(by) + 0.5);
    }
    snprintf(style.colour, sizeof style.colour, "#%02x%02x%02x", channel[0] & 255, channel[1] & 255, channel[2] & 255);
    style.dash = dashes[place % 5];
    return style;
}

// --- text and axes --------------------------------------------------------------------------------

static void escape(FILE *file, const char *text) {
    for (; *text != '\0'; text++) {
        switch (*text) {
            case '<': fputs("&lt;", file); break;
            case '>': fputs("&gt;", file); break;
            case '&': fputs("&amp;", file); break;
            case '"': fputs("&quot;", file); break;
            default: fputc(*text, file);
        }
    }
}

static void text(FILE *file, double x, double y, const char *anchor, const char *what) {
    fprintf(file, "<text x=\"%.1f\" y=\"%.1f\" text-anchor=\"%s\">", x, y, anchor);
    escape(file, what);
    fputs("</text>\n", file);
}

static void begin(FILE *file, double width, double height, const char *title) {
    fprintf(file,
            "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 %.0f %.0f\" width=\"%.0f\" height=\"%.0f\" "
            "font-family=\"system-ui, sans-serif\" font-size=\"12\" role=\"img\" aria-label=\"",
            width, height, width, height);
    escape(file, title);
    fprintf(file, "\">\n<rect width=\"%.0f\" height=\"%.0f\" fill=\"#fff\"/>\n", width, height);
    fprintf(file, "<text x=\"%.0f\" y=\"18\" text-anchor=\"middle\" font-size=\"14\">", width / 2.0);
    escape(file, title);
    fputs("</text>\n", file);
}

// One axis: data range to pixels, linear or logarithmic.
typedef struct Axis {
    double low, high;  // of the data, or of its decimal logarithm
    double from, to;   // pixels
    bool log;
} Axis;

static double to_axis(const Axis *axis, double value) { return axis->log ? log10(value) : value; }

static double pixel(const Axis *axis, double value) {
    return axis->from + (to_axis(axis, value) - axis->low) / (axis->high - axis->low) * (axis->to - axis->from);
}

static bool on_axis(const Axis *axis, double value) { return isfinite(value) && (!axis->log || value > 0.0); }

static void widen(Axis *axis, const double *values, int32_t count) {
    for (int32_t i = 0; i < count; i++) {
        if (on_axis(axis, values[i])) {
            double v = to_axis(axis, values[i]);
            axis->low = v < axis->low ? v : axis->low;
            axis->high = v > axis->high ? v : axis->high;
        }
    }
}

static void settle(Axis *axis) {
    if (!(axis->low <= axis->high)) {
        axis->low = 0.0;
        axis->high = 1.0;
    }
    if (axis->log) {
        axis->low = floor(axis->low);
        axis->high = ceil(axis->high);
    }
    if (axis->high - axis->low < 1e-12 * (fabs(axis->low) + fabs(axis->high)) || axis->high == axis->low) {
        axis->low -= axis->log ? 1.0 : 0.5;
        axis->high += axis->log ? 1.0 : 0.5;
    }
}

// Distance of ticks: 1, 2 or 5 times a power of ten; whole decades on a logarithmic axis.
static double tick_step(const Axis *axis) {
    double raw = (axis->high - axis->low) / 6.0;
    if (axis->log) {
        return raw < 1.0 ? 1.0 : ceil(raw);
    }
    double power = pow(10.0, floor(log10(raw))), ratio = raw / power;
    return power * (ratio < 1.5 ? 1.0 : ratio < 3.5 ? 2.0 : ratio < 7.5 ? 5.0 : 10.0);
}

static void ticks(FILE *file, const Axis *axis, bool horizontal, double other_from, double other_to) {
    double step = tick_step(axis);
    int first = (int)ceil(axis->low / step - 1e-9), last = (int)floor(axis->high / step + 1e-9);
    for (int i = first; i <= last; i++) {
        double v = i * step;
        double at = axis->from + (v - axis->low) / (axis->high - axis->low) * (axis->to - axis->from);
        char label[32];
        if (axis->log) {
            snprintf(label, sizeof label, "1e%d", (int)floor(v + 0.5));
        } else {
            snprintf(label, sizeof label, "%g", fabs(v) < 1e-12 * step ? 0.0 : v);
        }
        if (horizontal) {
            fprintf(file, "<path d=\"M%.1f %.1fV%.1f\" stroke=\"#ddd\"/>\n", at, other_from, other_to);
            text(file, at, other_from + 16.0, "middle", label);
        } else {
            fprintf(file, "<path d=\"M%.1f %.1fH%.1f\" stroke=\"#ddd\"/>\n", other_from, at, other_to);
            text(file, other_from - 6.0, at + 4.0, "end", label);
        }
    }
}

static void labels(FILE *file, const char *x_label, const char *y_label, const Axis *x, const Axis *y) {
    text(file, 0.5 * (x->from + x->to), y->from + 36.0, "middle", x_label);
    fprintf(file, "<text transform=\"translate(16 %.1f) rotate(-90)\" text-anchor=\"middle\">",
            0.5 * (y->from + y->to));
    escape(file, y_label);
    fputs("</text>\n", file);
}

// --- line plots -----------------------------------------------------------------------------------

static void curve(FILE *file, const SvgPlot *plot, const SvgCurve *c, const Axis *x, const Axis *y) {
    fprintf(file, "<path fill=\"none\" stroke=\"%s\" stroke-width=\"1.8\" stroke-dasharray=\"%s\" d=\"",
            c->style.colour, c->style.dash);
    bool pen_down = false;
    for (int32_t i = 0; i < c->count; i++) {
        if (!on_axis(x, c->x[i]) || !on_axis(y, c->y[i])) {
            pen_down = false;
            continue;
        }
        double px = pixel(x, c->x[i]), py = pixel(y, c->y[i]);
        if (pen_down && plot->stairs) {
            fprintf(file, "H%.1fV%.1f", px, py);
        } else {
            fprintf(file, "%c%.1f %.1f", pen_down ? 'L' : 'M', px, py);
        }
        pen_down = true;
    }
    fputs("\"/>\n", file);
}

// What a line cannot show: points without neighbours, as of a solver that needs one iteration.
static void lone_points(FILE *file, const SvgCurve *c, const Axis *x, const Axis *y) {
    bool before = false;
    for (int32_t i = 0; i < c->count; i++) {
        bool here = on_axis(x, c->x[i]) && on_axis(y, c->y[i]);
        bool after = i + 1 < c->count && on_axis(x, c->x[i + 1]) && on_axis(y, c->y[i + 1]);
        if (here && !before && !after) {
            fprintf(file, "<circle cx=\"%.1f\" cy=\"%.1f\" r=\"3\" fill=\"%s\"/>\n", pixel(x, c->x[i]),
                    pixel(y, c->y[i]), c->style.colour);
        }
        before = here;
    }
}

static void legend(FILE *file, const SvgPlot *plot, double left, double top) {
    for (int32_t i = 0; i < plot->count; i++) {
        double at = top + 18.0 * i;
        fprintf(file, "<path d=\"M%.1f %.1fh28\" stroke=\"%s\" stroke-width=\"2\" stroke-dasharray=\"%s\"/>\n", left,
                at, plot->curves[i].style.colour, plot->curves[i].style.dash);
        text(file, left + 34.0, at + 4.0, "start", plot->curves[i].name);
    }
}

void svg_plot(FILE *file, const SvgPlot *plot) {
    Axis x = {.low = INFINITY, .high = -INFINITY, .from = 66.0, .to = 560.0, .log = plot->log_x};
    Axis y = {.low = INFINITY, .high = -INFINITY, .from = 350.0, .to = 34.0, .log = plot->log_y};
    for (int32_t i = 0; i < plot->count; i++) {
        widen(&x, plot->curves[i].x, plot->curves[i].count);
        widen(&y, plot->curves[i].y, plot->curves[i].count);
    }
    if (plot->y_min != 0.0 || plot->y_max != 0.0) {
        y.low = plot->y_min;
        y.high = plot->y_max;
    }
    settle(&x);
    settle(&y);
    double height = 400.0 > 60.0 + 18.0 * plot->count ? 400.0 : 60.0 + 18.0 * plot->count;
    begin(file, 740.0, height, plot->title);
    ticks(file, &x, true, y.from, y.to);
    ticks(file, &y, false, x.from, x.to);
    fprintf(file, "<rect x=\"%.1f\" y=\"%.1f\" width=\"%.1f\" height=\"%.1f\" fill=\"none\" stroke=\"#555\"/>\n",
            x.from, y.to, x.to - x.from, y.from - y.to);
    labels(file, plot->x_label, plot->y_label, &x, &y);
    for (int32_t i = 0; i < plot->count; i++) {
        curve(file, plot, &plot->curves[i], &x, &y);
        lone_points(file, &plot->curves[i], &x, &y);
    }
    legend(file, plot, 576.0, 44.0);
    fputs("</svg>\n", file);
}

// --- heatmaps -------------------------------------------------------------------------------------

// Viridis by its nine anchors, linear between them.
static void viridis(double t, char colour[8]) {
    static const double anchors[9][3] = {{68, 1, 84},    {71, 44, 122}, {59, 81, 139},  {44, 113, 142}, {33, 144, 141},
                                         {39, 173, 129}, {92, 200, 99}, {170, 220, 50}, {253, 231, 37}};
    t = t < 0.0 ? 0.0 : t > 1.0 ? 1.0 : t;
    int at = t >= 1.0 ? 7 : (int)(8.0 * t);
    double between = 8.0 * t - at;
    int channel[3];
    for (int c = 0; c < 3; c++) {
        channel[c] = (int)floor(anchors[at][c] + between * (anchors[at + 1][c] - anchors[at][c]) + 0.5);
    }
    snprintf(colour, 8, "#%02x%02x%02x", channel[0] & 255, channel[1] & 255, channel[2] & 255);
}

static void colour_bar(FILE *file, const Axis *value, const char *label) {
    enum { SLICES = 64 };
    for (int i = 0; i < SLICES; i++) {
        char colour[8];
        viridis((i + 0.5) / SLICES, colour);
        double height = (value->from - value->to) / SLICES;
        fprintf(file, "<rect x=\"580\" y=\"%.2f\" width=\"16\" height=\"%.2f\" fill=\"%s\"/>\n",
                value->from - (i + 1) * height, height + 0.5, colour);
    }
    double step = tick_step(value);
    int first = (int)ceil(value->low / step - 1e-9), last = (int)floor(value->high / step + 1e-9);
    for (int i = first; i <= last; i++) {
        double v = i * step;
        char tick[32];
        snprintf(tick, sizeof tick, "1e%d", (int)floor(v + 0.5));
        text(file, 602.0, value->from + (v - value->low) / (value->high - value->low) * (value->to - value->from) + 4.0,
             "start", tick);
    }
    text(file, 588.0, value->from + 20.0, "middle", label);
}

// "1e-4" rather than "0.0001" or "1e-04": ticks stand close.
static void short_number(double value, char text[32]) {
    int exponent = value != 0.0 ? (int)floor(log10(fabs(value)) + 1e-9) : 0;
    if (exponent > -3 && exponent < 3) {
        snprintf(text, 32, "%.3g", value);
    } else {
        snprintf(text, 32, "%.2ge%d", value / pow(10.0, exponent), exponent);
    }
}

void svg_heatmap(FILE *file, const SvgHeatmap *map) {
    Axis value = {.low = INFINITY, .high = -INFINITY, .from = 440.0, .to = 40.0, .log = true};
    widen(&value, map->values, map->columns * map->rows);
    settle(&value);
    begin(file, 680.0, 500.0, map->title);
    fputs("<defs><pattern id=\"hatch\" width=\"6\" height=\"6\" patternUnits=\"userSpaceOnUse\"><path d=\"M0 6L6 0\" "
          "stroke=\"#fff\" stroke-width=\"1.2\"/></pattern></defs>\n",
          file);
    double width = 480.0 / map->columns, height = 400.0 / map->rows;
    for (int32_t r = 0; r < map->rows; r++) {
        for (int32_t c = 0; c < map->columns; c++) {
            double v = map->values[r * map->columns + c], x = 70.0 + c * width, y = 440.0 - (r + 1) * height;
            char colour[8] = "#bbbbbb";
            if (isfinite(v)) {
                viridis(v > 0.0 ? (log10(v) - value.low) / (value.high - value.low) : 0.0, colour);
            }
            fprintf(file,
                    "<rect x=\"%.2f\" y=\"%.2f\" width=\"%.2f\" height=\"%.2f\" fill=\"%s\"><title>%g, %g: "
                    "%g</title></rect>\n",
                    x, y, width, height, colour, map->x[c], map->y[r], v);
            if (map->hatched != NULL && map->hatched[r * map->columns + c]) {
                fprintf(file, "<rect x=\"%.2f\" y=\"%.2f\" width=\"%.2f\" height=\"%.2f\" fill=\"url(#hatch)\"/>\n", x,
                        y, width, height);
            }
        }
    }
    for (int32_t c = 0; c<map->columns; c += map->columns> 13 ? 2 : 1) {
        char tick[32];
        short_number(map->x[c], tick);
        text(file, 70.0 + (c + 0.5) * width, 456.0, "middle", tick);
    }
    for (int32_t r = 0; r<map->rows; r += map->rows> 13 ? 2 : 1) {
        char tick[32];
        short_number(map->y[r], tick);
        text(file, 64.0, 444.0 - (r + 0.5) * height, "end", tick);
    }
    Axis x = {.from = 70.0, .to = 550.0}, y = {.from = 440.0, .to = 40.0};
    labels(file, map->x_label, map->y_label, &x, &y);
    colour_bar(file, &value, map->value_label);
    fputs("</svg>\n", file);
}
