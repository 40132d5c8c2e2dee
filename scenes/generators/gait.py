"""An open-loop walk for a biped on flat feet: the pelvis stays upright and level, the feet stay flat, and the pelvis moves
so that the zero moment point (ZMP) of all bodies follows a given path from foot to foot.

With p the wanted ZMP and h the height of the centre of mass, a cart on a table obeys c - (h/g) c'' = p; a periodic p gives
each harmonic c_k = p_k / (1 + (h/g) w_k^2). The difference between the ZMP of all bodies (their point masses) and p
goes through the same filter and corrects the pelvis, until nothing is left (after Kajita et al., 2003, with Fourier
series in place of preview control).
"""

import cmath
import math

G = 9.81


def smooth(s):
    """From 0 to 1 with no velocity and no acceleration at the ends."""
    s = min(max(s, 0.0), 1.0)
    return s * s * s * (10.0 + s * (6.0 * s - 15.0))


class Series:
    """A periodic function of the phase from equal samples, by its lowest harmonics."""

    def __init__(self, samples, harmonics):
        n = len(samples)
        self.terms = [sum(x * cmath.exp(-2j * math.pi * k * i / n) for i, x in enumerate(samples)) / n
                      for k in range(harmonics + 1)]

    def __call__(self, s):
        return self.terms[0].real + 2.0 * sum((c * cmath.exp(2j * math.pi * k * s)).real
                                              for k, c in enumerate(self.terms) if k > 0)

    def filtered(self, gain):
        self.terms = [gain(k) * c for k, c in enumerate(self.terms)]
        return self

    def plus(self, other):
        self.terms = [a + b for a, b in zip(self.terms, other.terms)]


class Walk:
    """A stride of two steps in one period: at phase 0 both feet are down, the left one ahead; the right foot swings
    around phase 1/4, the left one around 3/4. Lengths in metres, times in seconds, x forward, y to the left."""

    def __init__(self, period, step, half_width, zmp_outward, lift, double_share, height, samples=64, harmonics=12):
        self.period, self.step = period, step
        self.half_width, self.zmp_outward = half_width, zmp_outward  # of the feet and of the ZMP from the middle
        self.lift, self.height = lift, height                        # of the swinging foot, of the pelvis
        self.double_share = double_share                             # of each step, with both feet down
        self.samples = samples
        self.start = 0.0                                             # phase at which the references begin
        self.advance = 2.0 * step                                    # in one period
        phases = [i / samples for i in range(samples)]
        self.x = Series([self.zmp(s)[0] - self.advance * s for s in phases], harmonics)
        self.y = Series([self.zmp(s)[1] for s in phases], harmonics)

    def swing(self, s):
        """How far into its swing (0 to 1) the foot is that swings around 1/4, for a phase in [0, 1/2]."""
        d = 0.25 * self.double_share
        return min(max((s - d) / (0.5 - 2.0 * d), 0.0), 1.0)

    def feet(self, s):
        """(left, right) soles (x, y, z). A step is half a period; in even steps the right foot swings."""
        steps = math.floor(2.0 * s)
        u = self.swing(s - 0.5 * steps)
        ahead = (steps + 0.5) * self.step
        swinging = (ahead - self.step + 2.0 * self.step * smooth(u), self.lift * 0.5 * (1.0 - math.cos(2.0 * math.pi * u)))
        standing = (ahead, 0.0)
        left, right = (standing, swinging) if steps % 2 == 0 else (swinging, standing)
        return (left[0], self.half_width, left[1]), (right[0], -self.half_width, right[1])

    def transfer(self, s):
        """(steps, u): the double support nearest to `s`, at phase steps / 2, has moved the load by u from foot to foot."""
        steps = math.floor(2.0 * s + 0.5)
        return steps, smooth(0.5 + (s - 0.5 * steps) / (0.5 * self.double_share))

    def zmp(self, s):
        """Wanted (x, y): in the middle of the standing foot, and from foot to foot while both are down."""
        steps, u = self.transfer(s)
        side = 1.0 if steps % 2 == 0 else -1.0  # to the left foot at phase 0
        return (steps - 0.5 + u) * self.step, side * self.zmp_outward * (2.0 * u - 1.0)

    def loads(self, s):
        """Shares of the left and the right foot in the load."""
        steps, u = self.transfer(s)
        return (u, 1.0 - u) if steps % 2 == 0 else (1.0 - u, u)

    def pelvis(self, s):
        return self.x(s) + self.advance * s, self.y(s), self.height

    def balance(self, masses_at, rounds=8):
        """Corrects the pelvis until the ZMP is where it is wanted. `masses_at(s)`: [(mass, (x, y, z))] of all bodies.
        Returns the largest remaining difference [m]."""
        masses = masses_at(0.0)
        height = sum(m * p[2] for m, p in masses) / sum(m for m, _ in masses)

        def gain(k):
            return 1.0 / (1.0 + height / G * (2.0 * math.pi * k / self.period) ** 2)

        for _ in range(rounds):
            error = self.zmp_error(masses_at)
            for pelvis, axis in ((self.x, 0), (self.y, 1)):
                pelvis.plus(Series([e[axis] for e in error], len(pelvis.terms) - 1).filtered(gain))
        return max(abs(x) for e in error for x in e)

    def zmp_error(self, masses_at):
        """Wanted less actual ZMP (x, y) at each sample."""
        n, dt = self.samples, self.period / self.samples
        frames = [masses_at(i / n) for i in range(-1, n + 1)]
        error = []
        for i in range(n):
            load, moment = 0.0, [0.0, 0.0]
            for (mass, a), (_, b), (_, c) in zip(*frames[i:i + 3]):
                rate = [(a[k] - 2.0 * b[k] + c[k]) / dt**2 for k in range(3)]
                load += mass * (rate[2] + G)
                moment = [moment[k] + mass * ((rate[2] + G) * b[k] - rate[k] * b[2]) for k in (0, 1)]
            error.append([self.zmp(i / n)[k] - moment[k] / load for k in (0, 1)])
        return error

    def begin_amid(self):
        """Lets the reference begin where the pelvis crosses the middle on its way to the left foot."""
        low, high = -0.1, 0.1
        for _ in range(60):
            middle = 0.5 * (low + high)
            low, high = (middle, high) if self.y(middle) < 0.0 else (low, middle)
        self.start = 0.5 * (low + high)
