// Runs the end-to-end tests, one file after another. A test that fails runs once more, alone, in a fresh browser:
// passes it there, it is told as flaky; fails it again, it has failed. Ends with what was flaky, what failed and why,
// and the line "N passed, N failed".
//   node tests/e2e/run.mjs [--once] [--name PATTERN] [FILE...]     FILE: first, edges, ...; --once: no second run
import { readdirSync } from 'node:fs';
import { basename } from 'node:path';
import { run } from 'node:test';
import { parseArgs, stripVTControlCharacters } from 'node:util';

const { values: options, positionals } = parseArgs({
    options: { once: { type: 'boolean' }, name: { type: 'string' } },
    allowPositionals: true,
});
const folder = import.meta.dirname;
const files = readdirSync(folder)
    .filter((f) => f.endsWith('.test.mjs') && (positionals.length === 0 || positionals.includes(short(f))))
    .sort()
    .map((f) => `${folder}/${f}`);

/** More failures than this are no accident of the machine. */
const MOST_REPEATED = 8;

function short(file) {
    return basename(file ?? '', '.test.mjs');
}

/** A whole file fails under its own path: it could not be loaded, or ended early. */
const title = ({ file, name }) => (name === file ? short(file) : `${short(file)}: ${name}`);

const literal = (name) => new RegExp(`^${name.replace(/[\\^$.*+?()[\]{}|]/g, '\\$&')}$`);

/** The error with the places in the tests, without the test runner's own. */
function reason(error, cries) {
    const cause = error?.cause ?? error;
    const ended = error?.signal ?? error?.exitCode;
    const text = stripVTControlCharacters(cries ?? String(cause?.stack ?? cause?.message ?? cause));
    const lines = text.split('\n').filter((line) => line.trim() && !/\bnode:/.test(line));
    return (ended === undefined ? lines : [...lines, `(the file ended with ${ended})`]).join('\n');
}

const indented = (text, lines = Infinity) =>
    text
        .split('\n')
        .slice(0, lines)
        .map((line) => `    ${line.slice(0, 400)}`)
        .join('\n');

/** Runs files, or what matches a pattern in them, and writes each outcome as it comes. */
async function outcomes(chosen, pattern) {
    const found = { passed: [], failed: [] };
    const cries = new Map();
    const stream = run({ files: chosen, concurrency: 1, testNamePatterns: pattern && [pattern] });
    for await (const { type, data } of stream) {
        const skipped = data?.skip ?? data?.todo;
        if (type === 'test:diagnostic' && data.nesting === 0 && data.file) console.log(`    ${data.message}`);
        if (type === 'test:stderr') cries.set(data.file, (cries.get(data.file) ?? '') + data.message);
        if (type !== 'test:pass' && type !== 'test:fail') continue;
        if (pattern && /does not match/.test(skipped)) continue;
        const took = `${(data.details.duration_ms / 1000).toFixed(1)} s`;
        if (type === 'test:fail') {
            const whole = data.name === data.file;
            const error = reason(data.details.error, whole ? cries.get(data.file) : undefined);
            const test = { ...data, error };
            found.failed.push(test);
            console.log(`FAILED ${title(test)} (${took})\n${indented(test.error)}`);
        } else if (skipped !== undefined) {
            console.log(`skipped ${title(data)}: ${skipped}`);
        } else if (data.name !== data.file) {
            found.passed.push(data);
            console.log(`ok ${title(data)} (${took})`);
        }
    }
    return found;
}

const first = await outcomes(files, options.name && new RegExp(options.name));
const flaky = [];
const failed = [];
const repeat = !options.once && first.failed.length <= MOST_REPEATED;
if (repeat && first.failed.length > 0)
    console.log('\nWhat failed runs once more, alone, in a fresh browser:');
for (const test of first.failed) {
    const whole = test.name === test.file;
    const again = repeat && (await outcomes([test.file], whole ? undefined : literal(test.name)));
    if (again && again.failed.length === 0 && again.passed.length > 0) flaky.push(test);
    else failed.push({ ...test, again: again?.failed?.[0]?.error });
}

console.log('');
for (const test of flaky) {
    console.log(`flaky: failed once, passed alone: ${title(test)}\n${indented(test.error, 4)}`);
}
for (const test of failed) {
    console.log(`${title(test)}\n${indented(test.error, 8)}`);
    if (test.again) console.log(`    and again, alone:\n${indented(test.again, 4)}`);
}
for (const test of failed) console.log(`failed: ${title(test)}${test.again ? ', twice' : ''}`);
const passed = first.passed.length + flaky.length;
console.log(`${passed} passed, ${failed.length} failed`);
process.exitCode = failed.length > 0 || passed === 0 ? 1 : 0;
