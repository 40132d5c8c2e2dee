#!/usr/bin/env python3
"""Puts the claims of the report's experiments and discussion to the test, and writes docs/reproduction.md.

What that page gives as measured is computed here from what `kinloop run`, `solve` and `heatmap` print as JSON or CSV. Only
the causes (report_claims.CAUSES), which hold no numbers, are written by hand. Results are kept in build/reproduce/ under
the command, the documents it reads, and the program's core, which `kinloop --version` names by its code: a second call
measures only what is new. Standard library only.

    scripts/reproduce.py                 all claims, written into docs/reproduction.md
    scripts/reproduce.py --only N1,N2    these alone, on the terminal
    scripts/reproduce.py --quick         the cheap ones; exit 1 when a verdict is not the page's
    scripts/reproduce.py --cached        the page of what has been measured so far; the rest stays as it was
    scripts/reproduce.py --jobs 2        two measurements at a time
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
import threading
import time
from concurrent.futures import ThreadPoolExecutor

import report_claims

ROOT = pathlib.Path(__file__).resolve().parent.parent
PAGE = ROOT / 'docs' / 'reproduction.md'
VERDICTS = {True: 'confirmed', False: 'not confirmed', None: "can't be tested"}
MISSING = 'not measured yet'


class Failed(Exception):
    """kinloop ended with an error: the claim has no verdict, and the script exits 1."""


class NotMeasured(Exception):
    """A result that --cached does not find."""


class Kinloop:
    """Runs the command, one solver at a time, and keeps what each gave.

    Some solvers have to be told to be the report's: `set_for` maps a solver to what it is given besides.
    """

    def __init__(self, program, cache, verbose, cached=False, set_for=None):
        self.cached = cached
        self.program = pathlib.Path(program).resolve()
        self.cache = cache
        self.verbose = verbose
        self.set_for = set_for or {}
        self.build = re.search(r'core (\w+)', self.version()).group(1)
        self.states = golden_digest()
        self.claim = threading.local()  # used: commands of the claim that this thread works on
        self.guard, self.guards = threading.Lock(), {}
        cache.mkdir(parents=True, exist_ok=True)

    def _place(self, arguments, ending, scene=None):
        """File of a result: named by the program, the documents it reads, and the command."""
        key = '\0'.join([self.build, *map(document_hash, [scene] if scene else []), *arguments])
        return self.cache / (hashlib.sha256(key.encode()).hexdigest()[:20] + ending)

    def _call(self, arguments, target):
        """Standard output of kinloop to `target`, once, whichever claim asks first."""
        with self.guard:
            guard = self.guards.setdefault(target, threading.Lock())
        with guard:
            if target.exists():
                return
            if self.cached:
                raise NotMeasured()
            start = time.monotonic()
            environment = dict(os.environ, KINLOOP_SCENES=str(ROOT / 'scenes'))
            partial = target.with_suffix('.partial')
            with open(partial, 'wb') as output:
                done = subprocess.run([self.program, *arguments], stdout=output, stderr=subprocess.PIPE, env=environment, cwd=ROOT)
            if done.returncode not in (0, 1):
                partial.unlink()
                raise Failed(f'kinloop {shlex.join(arguments)}: {done.stderr.decode()[-600:]}')
            partial.rename(target)
            if self.verbose:
                print(f'  {time.monotonic() - start:7.1f} s  kinloop', shlex.join(arguments), file=sys.stderr, flush=True)

    def begin(self):
        self.claim.used = []

    def used(self):
        return list(self.claim.used)

    def _note(self, arguments):
        text = 'kinloop ' + shlex.join(arguments)
        if text not in self.claim.used:
            self.claim.used.append(text)

    def _sets(self, solvers, sets):
        """The --set options of a command with these solvers."""
        own = [f'{name}.{value}' for name in solvers for value in self.set_for.get(name, ())]
        return [word for value in [*sets, *own] for word in ('--set', value)]

    def _each(self, solvers, sets):
        """(solver, its --set options): those that only others have are left out."""
        for name in solvers:
            fits = [v for v in sets if splitting(name) or not v.startswith(('sweep=', 'order=', 'seed='))]
            yield name, self._sets([name], fits)

    def run(self, scene, solvers, run=None, steps=None, duration=None, edits=(), sets=(), extra=()):
        """{solver: its run}, each with the metrics of every step under 'series'."""
        before, after = ['run', scene, '--solver'], []
        for option, value in (('--run', run), ('--steps', steps), ('--duration', duration)):
            after += [option, str(value)] if value is not None else []
        for value in edits:
            after += ['--edit', value]
        after += extra
        self._note([*before, ','.join(solvers), *after, *self._sets(solvers, sets)])
        runs = {}
        for name, options in self._each(solvers, sets):
            arguments = [*before, name, *after, *options]
            target = self._place(arguments, '.json', scene)
            table = target.with_suffix('.csv')
            self._call(arguments + ['--json', '--progress', 'none', '--record', str(table), '--force'], target)
            runs[name] = json.loads(target.read_text())['runs'][0]
            runs[name]['series'] = Series(table)
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
        self._note([*arguments, '--record', name])
        target = self._place(arguments, '.run', scene)
        file = target.with_suffix('.h5')
        self._call(arguments + ['--json', '--progress', 'none', '--record', str(file), '--force'], target)
        return file, name

    def solve(self, problems, solvers, select='', sets=(), extra=()):
        """Results by problem, in the order of their steps: [{solver: result}]; 'step' in each result."""
        file, name = problems
        self._note(['solve', name + select, '--solver', ','.join(solvers), *extra, *self._sets(solvers, sets)])
        by_step = {}
        for solver, options in self._each(solvers, sets):
            arguments = ['solve', str(file) + select, '--solver', solver, *extra, *options]
            target = self._place(arguments, '.json')
            self._call([*arguments, '--json', '--progress', 'none'], target)
            for result in json.loads(target.read_text())['results']:
                result['step'] = int(re.search(r'-t(\d+)$', result['name']).group(1))
                by_step.setdefault(result['step'], {})[solver] = result
        return [by_step[i] for i in sorted(by_step)]

    def timed(self, problems, solvers, extra=()):
        """The same by one process, so that processor times compare."""
        file, name = problems
        options = ['--solver', ','.join(solvers), *extra, *self._sets(solvers, [])]
        self._note(['solve', name, *options])
        target = self._place(['solve', str(file), *options], '.json')
        self._call(['solve', str(file), *options, '--json', '--progress', 'none'], target)
        return json.loads(target.read_text())['results']

    def heatmap(self, solvers, extra=()):
        """Cells of the mass grid of the fixed boxes: [{column: value}]."""
        self._note(['heatmap', '--solver', ','.join(solvers), *extra, *self._sets(solvers, [])])
        rows = []
        for name, options in self._each(solvers, []):
            arguments = ['heatmap', '--solver', name, *extra, *options]
            target = self._place(arguments, '.csv', 'boxes_fixed')
            self._call([*arguments, '--progress', 'none'], target)
            with open(target, newline='') as file:
                rows += [{k: number(v) for k, v in row.items()} for row in csv.DictReader(file)]
        return rows

    def version(self):
        done = subprocess.run([self.program, '--version'], stdout=subprocess.PIPE, check=True, text=True)
        return done.stdout


class Series:
    """Metrics over the steps of a run, read when asked for."""

    def __init__(self, path):
        self.path = path

    def __getitem__(self, metric):
        with open(self.path, newline='') as file:
            return [number(row[metric]) for row in csv.DictReader(file)]


def golden_digest():
    """Of the state hashes that tests/golden pins: programs that pass that test compute the same states."""
    files = sorted((ROOT / 'tests' / 'golden').glob('*.json'))
    return hashlib.sha256(b''.join(f.read_bytes() for f in files)).hexdigest()[:12]


def splitting(solver):
    return not solver.startswith(('admm', 'newton'))


def document_hash(scene):
    """Of a scene or experiment by name, and of the scene that an experiment names."""
    path = next(p for p in (ROOT / 'scenes' / f'{scene}.json', ROOT / 'scenes' / 'experiments' / f'{scene}.json') if p.exists())
    text = path.read_bytes()
    named = json.loads(text).get('scene')
    if isinstance(named, str):
        text += (path.parent / named).read_bytes()
    return hashlib.sha256(text).hexdigest()


def number(text):
    try:
        return float(text)
    except (TypeError, ValueError):
        return text


# --- the page -------------------------------------------------------------------------------------

def test_claim(kit, claim):
    kit.begin()
    try:
        measured, verdict = claim.test(kit)
        word = VERDICTS[verdict]
    except NotMeasured:
        measured, word = '`make reproduce` measures it', MISSING
    why = report_claims.CAUSES.get(claim.id) if word == VERDICTS[False] else None
    return {'claim': claim, 'measured': measured, 'verdict': word, 'why': why, 'commands': kit.used()}


def summary(results):
    counts = {word: sum(r['verdict'] == word for r in results) for word in (*VERDICTS.values(), MISSING)}
    return ', '.join(f'{n} {word}' for word, n in counts.items() if n) + f', {len(results)} in all'


MARK = '<!-- from here on written by scripts/reproduce.py (make reproduce); do not edit -->'


def page_head():
    """What people have written above the mark."""
    text = PAGE.read_text() if PAGE.exists() else '# The report\'s claims, put to the test\n'
    return text.split(MARK)[0].rstrip() + '\n'


def with_cause(block, claim):
    why = report_claims.CAUSES.get(claim.id)
    if why is None or f'— *{VERDICTS[False]}*' not in block or '\n- why: ' in block:
        return block
    return re.sub(r'^(- measured: .*)$', lambda m: f'{m[1]}\n- why: {why}', block, count=1, flags=re.M)


def page_summary(results, before):
    """Verdicts as they stand on the page, those of earlier programs among them."""
    stands = [re.search(r'— \*(.*?)\*$', before[r['claim'].id], re.M).group(1)
              if r['verdict'] == MISSING and r['claim'].id in before else r['verdict'] for r in results]
    kept = sum('- measured by the earlier' in before[r['claim'].id] for r in results if r['verdict'] == MISSING and r['claim'].id in before)
    counts = ', '.join(f'{stands.count(word)} {word}' for word in (*VERDICTS.values(), MISSING) if word in stands)
    return f'{counts}, {len(results)} in all' + (f', {kept} of them measured by an earlier core, as they say' if kept else '')


def page_blocks(kit):
    """{id: what the page says of it}, with the core that measured it when states have changed since."""
    text = PAGE.read_text() if PAGE.exists() else ''
    core, states = (re.search(pattern + ' ([0-9a-f]{12})', text) for pattern in ('(?:core|program)', 'digest'))
    found = re.findall(r'^(\*\*([A-Z]\d+)\. .*?)(?=\n\n(?:\*\*|## )|\s*\Z)', text, re.M | re.S)
    changed = core is not None and (states is None or states.group(1) != kit.states)
    earlier = f'\n- measured by the earlier core {core.group(1)}' if changed else ''
    return {id: block if '- measured by the earlier' in block else block + earlier
            for block, id in found if f'*{MISSING}*' not in block}


def page_text(kit, results, intro):
    before = {id: block for id, block in page_blocks(kit).items() if any(r['claim'].id == id and r['claim'].statement in block for r in results)}
    lines = [page_head(), MARK, '', intro.strip(), '',
             f'**{page_summary(results, before)}.** Measured with {kit.version().splitlines()[0]}, core {kit.build} (`kinloop --version`). '
             f'Programs that pass the test of state hashes (`tests/golden`, digest {kit.states}) compute the same states.', '']
    section = None
    for r in results:
        claim = r['claim']
        if claim.section != section:
            section = claim.section
            lines += [f'## {section}', '']
        if r['verdict'] == MISSING and claim.id in before:
            lines += [with_cause(before[claim.id], claim), '']
            continue
        lines += [f'**{claim.id}. {claim.statement}** — *{r["verdict"]}*', '',
                  f'- how: {claim.how}', f'- measured: {r["measured"]}']
        lines += [f'- why: {r["why"]}'] if r['why'] else []
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
    parser.add_argument('--jobs', type=int, default=1, help='claims measured at a time')
    options = parser.parse_args()
    kit = Kinloop(options.program, pathlib.Path(options.cache), not options.quiet, options.cached, report_claims.AS_PRINTED)
    chosen = [c for c in report_claims.CLAIMS if not options.quick or c.quick]
    if options.only:
        ids = options.only.split(',')
        chosen = sorted((c for c in chosen if c.id in ids), key=lambda c: ids.index(c.id))
    results = []
    with ThreadPoolExecutor(options.jobs) as pool:
        for r in pool.map(lambda claim: test_claim(kit, claim), chosen):
            results.append(r)
            print(f'{r["claim"].id:4} {r["verdict"]:15} {r["claim"].statement}\n     {r["measured"]}', flush=True)
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
