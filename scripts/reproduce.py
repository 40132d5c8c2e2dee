#!/usr/bin/env python3
"""Puts the claims of the report's experiments and discussion to the test, and writes docs/reproduction.md.

Every number on that page is computed here from what `kinloop run`, `solve`, `heatmap` and `check` print as JSON or
CSV; none is typed in. Results are kept in build/reproduce/ under the command and the program that gave them, so that
a second call measures only what is new. Standard library only.

    scripts/reproduce.py                 all claims, written into docs/reproduction.md
    scripts/reproduce.py --only N1,N2    these alone, on the terminal
    scripts/reproduce.py --quick         the cheap ones; exit 1 when a verdict is not the page's
    scripts/reproduce.py --cached        the page of what has been measured so far
"""
import argparse
import csv
import hashlib
import json
import os
import pathlib
import re
import shlex
import subprocess
import sys
import time

ROOT = pathlib.Path(__file__).resolve().parent.parent
PAGE = ROOT / 'docs' / 'reproduction.md'
VERDICTS = {True: 'confirmed', False: 'not confirmed', None: "can't be tested"}
MISSING = 'not measured yet'


class Failed(Exception):
    """kinloop ended with an error: the claim has no verdict, and the script exits 1."""


class NotMeasured(Exception):
    """A result that --cached does not find."""


class Kinloop:
    """Runs the command and keeps what it gave."""

    def __init__(self, program, cache, verbose, cached=False):
        self.cached = cached
        self.program = pathlib.Path(program).resolve()
        self.cache = cache
        self.verbose = verbose
        self.build = hashlib.sha256(self.program.read_bytes()).hexdigest()[:12]
        self.used = []  # commands of the claim in work
        self.seconds = 0.0
        cache.mkdir(parents=True, exist_ok=True)

    def _place(self, arguments, ending):
        scenes = hashlib.sha256()
        for path in sorted((ROOT / 'scenes').rglob('*.json')):
            scenes.update(path.read_bytes())
        key = '\0'.join([self.build, scenes.hexdigest(), *arguments])
        return self.cache / (hashlib.sha256(key.encode()).hexdigest()[:20] + ending)

    def _call(self, arguments, target):
        """Standard output of kinloop to `target`, once."""
        if target.exists():
            return
        if self.cached:
            raise NotMeasured()
        start = time.monotonic()
        if self.verbose:
            print('  kinloop', shlex.join(arguments), file=sys.stderr, flush=True)
        environment = dict(os.environ, KINLOOP_SCENES=str(ROOT / 'scenes'))
        partial = target.with_suffix('.partial')
        with open(partial, 'wb') as output:
            done = subprocess.run([self.program, *arguments], stdout=output, stderr=subprocess.PIPE, env=environment, cwd=ROOT)
        if done.returncode not in (0, 1):
            partial.unlink()
            raise Failed(f'kinloop {shlex.join(arguments)}: {done.stderr.decode()[-600:]}')
        partial.rename(target)
        self.seconds += time.monotonic() - start

    def _note(self, text):
        if text not in self.used:
            self.used.append(text)

    def run(self, scene, solvers, run=None, steps=None, duration=None, edits=(), sets=(), extra=()):
        """{solver: its run}, each with the metrics of every step under 'series'."""
        arguments = ['run', scene, '--solver', ','.join(solvers)]
        for option, value in (('--run', run), ('--steps', steps), ('--duration', duration)):
            arguments += [option, str(value)] if value is not None else []
        for option, values in (('--edit', edits), ('--set', sets)):
            for value in values:
                arguments += [option, value]
        arguments += list(extra)
        self._note('kinloop ' + shlex.join(arguments))
        target = self._place(arguments, '.json')
        table = target.with_suffix('.csv')
        recorded = arguments + ['--json', '--progress', 'none', '--record', str(table), '--force']
        self._call(recorded, target)
        runs = {r['solver']: r for r in json.loads(target.read_text())['runs']}
        for name in runs:
            runs[name]['series'] = Series(table, name)
        return runs

    def problems(self, scene, driver, every, run=None, steps=None, duration=None, edits=(), extra=()):
        """A file of the dual problems that `driver` met in every `every`-th step."""
        arguments = ['run', scene, '--solver', driver, '--every', str(every)]
        for option, value in (('--run', run), ('--steps', steps), ('--duration', duration)):
            arguments += [option, str(value)] if value is not None else []
        for value in edits:
            arguments += ['--edit', value]
        arguments += list(extra)
        name = f'{pathlib.Path(scene).stem}-{run or "first"}-{every}.h5'
        self._note('kinloop ' + shlex.join(arguments + ['--record', name]))
        target = self._place(arguments, '.run')
        file = target.with_suffix('.h5')
        self._call(arguments + ['--json', '--progress', 'none', '--record', str(file), '--force'], target)
        return file, name

    def solve(self, problems, solvers, select='', sets=(), extra=()):
        """Results by problem, in the order of their steps: [{solver: result}]; 'step' in each result."""
        file, name = problems
        options = ['--solver', ','.join(solvers)]
        for value in sets:
            options += ['--set', value]
        options += list(extra)
        self._note('kinloop ' + shlex.join(['solve', name + select, *options]))
        arguments = ['solve', str(file) + select, *options, '--json', '--progress', 'none']
        target = self._place(arguments, '.json')
        self._call(arguments, target)
        by_step = {}
        for result in json.loads(target.read_text())['results']:
            result['step'] = int(re.search(r'-t(\d+)$', result['name']).group(1))
            by_step.setdefault(result['step'], {})[result['solver']] = result
        return [by_step[i] for i in sorted(by_step)]

    def heatmap(self, solvers, extra=()):
        """Cells of the mass grid of the fixed boxes: [{column: value}]."""
        arguments = ['heatmap', '--solver', ','.join(solvers), *extra]
        self._note('kinloop ' + shlex.join(arguments))
        target = self._place(arguments, '.csv')
        self._call(arguments + ['--progress', 'none'], target)
        with open(target, newline='') as file:
            return [{k: number(v) for k, v in row.items()} for row in csv.DictReader(file)]

    def version(self):
        done = subprocess.run([self.program, '--version'], stdout=subprocess.PIPE, check=True, text=True)
        return done.stdout.strip().splitlines()[0]


class Series:
    """Metrics of one solver over the steps, read when asked for."""

    def __init__(self, path, solver):
        self.path, self.solver, self.rows = path, solver, None

    def __getitem__(self, metric):
        if self.rows is None:
            with open(self.path, newline='') as file:
                self.rows = [row for row in csv.DictReader(file) if row['solver'] == self.solver]
        return [number(row[metric]) for row in self.rows]


def number(text):
    try:
        return float(text)
    except (TypeError, ValueError):
        return text


# --- the page -------------------------------------------------------------------------------------

def test_claim(kit, claim):
    kit.used = []
    try:
        measured, verdict = claim.test(kit)
        word = VERDICTS[verdict]
    except NotMeasured:
        measured, word = '`make reproduce` measures it', MISSING
    return {'claim': claim, 'measured': measured, 'verdict': word, 'commands': list(kit.used)}


def summary(results):
    counts = {word: sum(r['verdict'] == word for r in results) for word in (*VERDICTS.values(), MISSING)}
    return ', '.join(f'{n} {word}' for word, n in counts.items() if n) + f', {len(results)} in all'


MARK = '<!-- from here on written by scripts/reproduce.py (make reproduce); do not edit -->'


def page_head():
    """What people have written above the mark."""
    text = PAGE.read_text() if PAGE.exists() else '# The report\'s claims, put to the test\n'
    return text.split(MARK)[0].rstrip() + '\n'


def page_text(kit, results, intro):
    lines = [page_head(), MARK, '', intro.strip(), '',
             f'**{summary(results)}.** Measured with {kit.version()}, program {kit.build} (SHA-256).', '']
    section = None
    for r in results:
        claim = r['claim']
        if claim.section != section:
            section = claim.section
            lines += [f'## {section}', '']
        lines += [f'**{claim.id}. {claim.statement}** — *{r["verdict"]}*', '',
                  f'- how: {claim.how}', f'- measured: {r["measured"]}']
        lines += [f'- `{command}`' for command in r['commands']]
        lines += ['']
    return '\n'.join(lines)


def page_verdicts():
    found = re.findall(r'^\*\*([A-Z]\d+)\. .*\*\* — \*(.*)\*$', PAGE.read_text(), re.M)
    return dict(found)


def compare_with_page(results):
    known = page_verdicts()
    wrong = [r for r in results if known.get(r['claim'].id) != r['verdict']]
    for r in wrong:
        print(f'{r["claim"].id}: {r["verdict"]}, the page says {known.get(r["claim"].id, "nothing")}')
    return not wrong and bool(results)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument('--program', default=str(ROOT / 'build' / 'native' / 'kinloop'))
    parser.add_argument('--cache', default=str(ROOT / 'build' / 'reproduce'))
    parser.add_argument('--only', help='ids parted by commas; prints, writes no page')
    parser.add_argument('--quick', action='store_true', help='the cheap claims, compared with the page')
    parser.add_argument('--quiet', action='store_true')
    parser.add_argument('--cached', action='store_true', help='measure nothing anew: claims without results say so')
    options = parser.parse_args()
    sys.dont_write_bytecode = True
    sys.path.insert(0, str(ROOT / 'scripts'))
    import report_claims
    kit = Kinloop(options.program, pathlib.Path(options.cache), not options.quiet, options.cached)
    chosen = [c for c in report_claims.CLAIMS if (not options.quick or c.quick)
              and (not options.only or c.id in options.only.split(','))]
    results = []
    for claim in chosen:
        results.append(test_claim(kit, claim))
        r = results[-1]
        print(f'{claim.id:4} {r["verdict"]:15} {claim.statement}\n     {r["measured"]}', flush=True)
    print(summary(results))
    if options.quick:
        return 0 if compare_with_page(results) else 1
    if not options.only:
        partial = PAGE.with_suffix('.md.partial')
        partial.write_text(page_text(kit, results, report_claims.INTRO) + '\n')
        partial.rename(PAGE)
    return 0


if __name__ == '__main__':
    sys.exit(main())
