"""arm7d: a seven-joint arm on a fixed base, roll and pitch joints in turn."""

from mechanism import Mechanism, PAPER_SOLVERS, STABILIZED, add, scale

LIGHTEST, RATIO = 0.25, 19.54


def build():
    m = Mechanism("arm7d", "Seven-joint arm (surrogate mechanism)",
                  "A serial arm with seven revolute joints on a fixed base, tracking a looped reference. A surrogate: the counts "
                  "and the mass ratio are those of the benchmark suite, shape and inertia are our own.")
    x, y, z = (1.0, 0.0, 0.0), (0.0, 1.0, 0.0), (0.0, 0.0, 1.0)
    bend, reach = (0.5, 0.0, 0.8660254037844386), (0.9848077530122080, 0.0, -0.1736481776669303)  # 30 and 100 degrees
    shoulder = (0.0, 0.0, 0.34)
    elbow = add(shoulder, scale(0.42, bend))
    wrist = add(elbow, scale(0.40, reach))
    points = [(0.0, 0.0, 0.15), shoulder, add(shoulder, scale(0.21, bend)), elbow, add(elbow, scale(0.2, reach)), wrist,
              add(wrist, (0.0, 0.0, -0.09)), add(wrist, (0.0, 0.0, -0.19))]
    axes = [z, y, bend, y, reach, y, z]
    masses = [RATIO * LIGHTEST, 3.2, 2.6, 2.3, 1.5, 1.2, LIGHTEST]  # the first link carries the drives
    radii = [0.07, 0.06, 0.055, 0.05, 0.045, 0.04, 0.03]
    amplitudes = [0.9, 0.5, 0.7, -0.6, 0.8, 0.5, 1.2]
    m.box("base", 4.5, (0.0, 0.0, 0.075), (0.22, 0.22, 0.15), color=[0.3, 0.3, 0.35])
    m.fixed("mount", "world", "base", (0.0, 0.0, 0.0))
    last = "base"
    for i in range(7):
        link = m.bar(f"link{i + 1}", masses[i], points[i], points[i + 1], radii[i], (2, 1),
                     [0.9, 0.55, 0.2] if i % 2 == 0 else [0.85, 0.85, 0.88])
        m.revolute(f"joint{i + 1}", last, link, points[i], axes[i], limits=[-2.6, 2.6], omega=40.0,
                   amplitude=amplitudes[i], phase=0.0)
        last = link
    m.run("track", "Tracking", 12, text="All seven joints follow their references by PID.")
    m.run("track_stabilized", "Tracking, stabilised", 12, settings=STABILIZED)
    m.run("limp", "Limp", 6, actuated=False, text="Without drives the arm falls, against its limits and the ground.")
    m.solvers = PAPER_SOLVERS
    m.camera = ((1.4, -1.6, 1.0), (0.25, 0.0, 0.4))
    return m
