// Runs all end-to-end tests; the last line says "N passed, N failed". Arguments are passed on to node --test.
import { spawnSync } from 'node:child_process';
import { readdirSync } from 'node:fs';

const folder = import.meta.dirname;
const chosen = process.argv.slice(2);
const files = readdirSync(folder)
    .filter((f) => f.endsWith('.test.mjs'))
    .sort()
    .map((f) => `${folder}/${f}`);
const result = spawnSync(
    process.execPath,
    ['--test', '--test-concurrency=1', '--test-reporter=tap', ...chosen, ...files],
    {
        encoding: 'utf8',
        maxBuffer: 1 << 26,
    },
);
process.stdout.write(result.stdout);
process.stderr.write(result.stderr);
const count = (word) => Number(new RegExp(`^# ${word} (\\d+)`, 'm').exec(result.stdout)?.[1] ?? 0);
console.log(`${count('pass')} passed, ${count('fail') + count('cancelled')} failed`);
process.exitCode = result.status ?? 1;
