// Drives the suite for conformance/run, which has installed and built everything: starts the fixture
// server, runs the requirement sets, reads the suite's checks.json files, judges and reports.
// Exit status: 0 as expected, 1 unexpected results, 2 misuse.

import { spawn } from 'node:child_process';
import { createWriteStream, mkdirSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { basename, dirname, join, relative, resolve } from 'node:path';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { parse } from 'yaml';

const HERE = dirname(fileURLToPath(import.meta.url));
const PACKAGE = join(HERE, 'node_modules/@modelcontextprotocol/conformance');
const SUITE = join(PACKAGE, 'dist/index.js');
const RESULTS = join(HERE, 'results');

const RUNTIMES = ['tokio', 'smol', 'blocking'];
const LEGS = ['server', 'client'];
const REVISIONS = ['2025-11-25', '2026-07-28'];
const CONCURRENT_TASKS = 2;
// Long enough for a slow and busy machine; nothing takes as long when it works.
const SERVER_START_MS = 90_000;
const SERVER_STOP_MS = 20_000;
const CLIENT_MS = 120_000;
const MESSAGE_LENGTH = 300;

// Scenarios in which the suite wants the client to give up, so that a non-zero exit is no fault
// (its `allowClientError`, which it does not write down).
const CLIENT_MAY_FAIL = new Set([
  'http-invalid-tool-headers',
  'auth/scope-retry-limit',
  'auth/resource-mismatch',
  'auth/iss-supported-missing',
  'auth/iss-wrong-issuer',
  'auth/iss-unexpected',
  'auth/iss-normalized',
  'auth/metadata-issuer-mismatch',
]);

class Misuse extends Error {}

async function main() {
  const options = parseArguments(process.argv.slice(2));
  const sets = new Map(REVISIONS.map((revision) => [revision, readRequirements(revision)]));
  const expected = readExpectedFailures(sets);
  const plan = await makePlan(options, sets);

  const { rows, faults } = await runPlan(plan, options);
  for (const row of rows) judge(row, expected, sets);
  return report(rows, faults);
}

// ---- What to run -----------------------------------------------------------------------------------

function parseArguments(args) {
  const options = { binaries: '', runtimes: RUNTIMES, legs: LEGS, revisions: REVISIONS, scenarios: [] };
  const choose = (flag, value, choices) => {
    if (value === 'all') return choices;
    if (choices.includes(value)) return [value];
    throw new Misuse(`${flag} takes ${choices.join(', ')} or all, not '${value}'`);
  };
  for (let i = 0; i < args.length; i += 1) {
    const [flag, inline] = args[i].split(/=(.*)/s, 2);
    const value = inline ?? args[(i += 1)];
    if (value === undefined) throw new Misuse(`${flag} needs a value`);
    if (flag === '--binaries') options.binaries = resolve(value);
    else if (flag === '--runtime') options.runtimes = choose(flag, value, RUNTIMES);
    else if (flag === '--leg') options.legs = choose(flag, value, LEGS);
    else if (flag === '--revision') options.revisions = choose(flag, value, REVISIONS);
    else if (flag === '--scenario') options.scenarios.push(value);
    else throw new Misuse(`unknown option ${flag}; see conformance/run --help`);
  }
  return options;
}

/** The scenarios of a revision: for each leg a map from name to whether it is scored. */
function readRequirements(revision) {
  const set = parse(readFileSync(join(PACKAGE, 'requirements', `${revision}.yaml`), 'utf8'));
  const legs = {};
  for (const leg of LEGS) {
    legs[leg] = new Map(set[leg].map((name) => [name, true]));
    for (const entry of set.not_scored) if (entry.leg === leg) legs[leg].set(entry.scenario, false);
  }
  return legs;
}

/** Whether a requirement set has a scenario. Nothing of it may fail, not even what is not scored. */
function isRequired(sets, leg, revision, name) {
  return sets.get(revision)?.[leg].has(name) ?? false;
}

/** The listed scenarios as keys `leg revision name`. */
function readExpectedFailures(sets) {
  const file = parse(readFileSync(join(HERE, 'expected-failures.yaml'), 'utf8')) ?? {};
  const keys = new Set();
  for (const [leg, entries] of Object.entries(file)) {
    if (!LEGS.includes(leg)) throw new Misuse(`expected-failures.yaml: unknown list '${leg}'`);
    for (const entry of entries ?? []) {
      const [name, only] = String(entry).split('@');
      const revisions = REVISIONS.filter(
        (revision) => (only === undefined || only === revision) && isRequired(sets, leg, revision, name),
      );
      if (revisions.length === 0) throw new Misuse(`expected-failures.yaml: no set has ${leg} ${entry}`);
      for (const revision of revisions) keys.add(`${leg} ${revision} ${name}`);
    }
  }
  return keys;
}

/**
 * One entry per leg and revision: the names to run, whether each is scored, and whether it is the whole
 * requirement set, which the suite runs in one go.
 */
async function makePlan(options, sets) {
  if (options.scenarios.length === 0) {
    return options.legs.flatMap((leg) =>
      options.revisions.map((revision) => ({ leg, revision, whole: true, scenarios: sets.get(revision)[leg] })),
    );
  }

  const plan = [];
  const unmatched = new Set(options.scenarios);
  for (const leg of options.legs) {
    const chosen = new Map();
    for (const { name, tags } of await listScenarios(leg)) {
      const pattern = options.scenarios.find((wanted) => matches(wanted, name));
      if (pattern === undefined) continue;
      unmatched.delete(pattern);
      for (const [revision, scored] of placesOf(name, tags, leg, options.revisions, sets)) {
        if (!chosen.has(revision)) chosen.set(revision, new Map());
        chosen.get(revision).set(name, scored);
      }
    }
    for (const [revision, scenarios] of chosen) plan.push({ leg, revision, whole: false, scenarios });
  }
  if (unmatched.size > 0) throw new Misuse(`no such scenario in ${options.legs.join(' or ')}: ${[...unmatched].join(', ')}`);
  if (plan.length === 0) throw new Misuse('the chosen scenarios do not apply to the chosen revision');
  return plan;
}

function matches(wanted, name) {
  return wanted.endsWith('*') ? name.startsWith(wanted.slice(0, -1)) : name === wanted;
}

/**
 * Where a scenario asked for by name runs: in the chosen revisions that require it or that it applies to;
 * without any of those, at the newest revision that it was written for, or as an extension.
 */
function placesOf(name, tags, leg, revisions, sets) {
  const places = revisions
    .filter((revision) => sets.get(revision)[leg].has(name) || tags.includes(revision))
    .map((revision) => [revision, sets.get(revision)[leg].get(name) ?? false]);
  if (places.length > 0 || tags.some((tag) => REVISIONS.includes(tag))) return places;
  return [[tags.at(-1), false]];
}

async function listScenarios(leg) {
  let text = '';
  const child = start(process.execPath, [SUITE, 'list', `--${leg}`]);
  child.stdout.setEncoding('utf8').on('data', (chunk) => (text += chunk));
  await ended(child);
  return [...text.matchAll(/^ {2}- (\S+) \[([^\]]*)\]$/gm)].map(([, name, tags]) => ({ name, tags: tags.split(',') }));
}

// ---- Running it ------------------------------------------------------------------------------------

async function runPlan(plan, options) {
  const rows = [];
  const faults = [];
  const tasks = [];
  for (const runtime of options.runtimes) {
    // The revisions share one server and follow each other: some scenarios change its lists.
    const server = plan.filter((part) => part.leg === 'server');
    if (server.length > 0) tasks.push(() => runServerLeg(runtime, server, options, faults));
    for (const part of plan.filter((each) => each.leg === 'client')) {
      tasks.push(() => runClientLeg(runtime, part, options));
    }
  }
  const worker = async () => {
    for (let task = tasks.shift(); task !== undefined; task = tasks.shift()) {
      rows.push(...(await task()));
    }
  };
  await Promise.all(Array.from({ length: CONCURRENT_TASKS }, worker));
  return { rows, faults };
}

async function runServerLeg(runtime, parts, options, faults) {
  const log = createWriteStream(join(freshDirectory(`server-${runtime}`), 'server.log'));
  let server;
  try {
    server = await startServer(join(options.binaries, 'conformance-server'), runtime, log);
  } catch (error) {
    return parts.flatMap((part) => rowsOf(part, runtime, new Map(), error.message));
  }
  const rows = [];
  for (const part of parts) rows.push(...(await runSuite(part, runtime, ['server', '--url', server.url])));
  if (hasEnded(server.child)) faults.push(`the ${runtime} server ended too early: see ${relative('.', log.path)}`);
  await stopServer(server.child);
  return rows;
}

async function runClientLeg(runtime, part, options) {
  const statuses = freshDirectory(`client-${runtime}-${part.revision}-status`);
  const words = [join(HERE, 'record-exit'), statuses, join(options.binaries, 'conformance-client'), '--runtime', runtime];
  // The suite wraps the command in a shell; `exec` lets its time-out reach ours instead of that shell.
  const command = `exec ${words.map(quote).join(' ')}`;
  const rows = await runSuite(part, runtime, ['client', '--command', command, '--timeout', String(CLIENT_MS)]);
  const recorded = new Set(readdirSync(statuses));
  for (const row of rows) {
    const file = row.scenario.replaceAll('/', '_');
    const status = recorded.has(file) ? readFileSync(join(statuses, file), 'utf8').trim() : 'unknown';
    if (status !== '0' && !CLIENT_MAY_FAIL.has(row.scenario)) row.problems.push(`the client ended with status ${status}`);
  }
  return rows;
}

/** Runs one leg at one revision and returns a row for each scenario. */
async function runSuite(part, runtime, target) {
  const { leg, revision, whole, scenarios } = part;
  const name = `${leg}-${runtime}-${revision}`;
  const output = freshDirectory(name);
  const log = createWriteStream(join(output, 'suite.log'));
  const runs = whole
    ? [['--requirements', revision]]
    : [...scenarios.keys()].map((scenario) => [
        '--scenario',
        scenario,
        // Extensions have no revision of their own: the suite chooses one for them.
        ...(revision === 'extension' ? [] : ['--spec-version', revision, '--force']),
      ]);
  for (const run of runs) {
    const child = start(process.execPath, [SUITE, ...target, ...run, '--output-dir', output]);
    child.stdout.pipe(log, { end: false });
    child.stderr.pipe(log, { end: false });
    await ended(child);
  }
  log.end();

  const found = readChecks(output, leg);
  process.stderr.write(`conformance: ${name}: ${found.size} of ${scenarios.size} scenarios ran\n`);
  return rowsOf(part, runtime, found, `the suite wrote no checks: see ${relative('.', log.path)}`);
}

/** A row for each scenario of a part, from the checks that were found; `otherwise` says why there are none. */
function rowsOf({ leg, revision, whole, scenarios }, runtime, found, otherwise) {
  return [...scenarios].map(([scenario, scored]) => {
    const checks = found.get(scenario) ?? [];
    const of = (status) => checks.filter((check) => check.status === status);
    const failures = of('FAILURE');
    return {
      leg,
      revision,
      runtime,
      scenario,
      scored,
      chosen: !whole,
      passed: of('SUCCESS').length,
      failed: failures.length,
      warned: of('WARNING').length,
      problems: found.has(scenario)
        ? failures.map((check) => `${check.id}: ${check.errorMessage ?? check.description}`)
        : [otherwise],
    };
  });
}

/** The suite names a report directory `[server-]SCENARIO-TIMESTAMP`; a scenario's name may hold a slash. */
function readChecks(output, leg) {
  const found = new Map();
  for (const file of readdirSync(output, { recursive: true }).sort()) {
    if (basename(file) !== 'checks.json') continue;
    const name = dirname(file).replace(/-\d{4}-\d\d-\d\dT[\d-]+Z$/, '');
    const scenario = leg === 'server' ? name.replace(/^server-/, '') : name;
    found.set(scenario, JSON.parse(readFileSync(join(output, file), 'utf8')));
  }
  return found;
}

// ---- The fixture server ----------------------------------------------------------------------------

/** Starts the server and waits for the line in which it says where it listens. */
async function startServer(path, runtime, log) {
  const child = start(path, ['--runtime', runtime, '--port', '0']);
  child.stderr.pipe(log, { end: false });
  const line = await new Promise((settle, fail) => {
    const timer = setTimeout(() => fail(new Error(`the ${runtime} server did not start in time`)), SERVER_START_MS);
    child.once('error', (error) => fail(new Error(`the ${runtime} server did not start: ${error.message}`)));
    child.once('exit', () => fail(new Error(`the ${runtime} server ended at once: see ${relative('.', log.path)}`)));
    createInterface({ input: child.stdout }).once('line', (first) => {
      clearTimeout(timer);
      settle(first);
    });
  });
  child.stdout.resume();
  const url = /^listening on (http:\/\/\S+)$/.exec(line)?.[1];
  if (url === undefined) {
    child.kill('SIGKILL');
    throw new Error(`the ${runtime} server's first line is not 'listening on URL': ${line}`);
  }
  return { child, url };
}

async function stopServer(child) {
  if (hasEnded(child)) return;
  const timer = setTimeout(() => child.kill('SIGKILL'), SERVER_STOP_MS);
  child.kill('SIGTERM');
  await ended(child);
  clearTimeout(timer);
}

// ---- Processes and files ---------------------------------------------------------------------------

const children = new Set();
process.once('exit', () => children.forEach((child) => child.kill('SIGKILL')));
for (const signal of ['SIGINT', 'SIGTERM']) process.once(signal, () => process.exit(2));

/** Starts a process that does not outlive this one. */
function start(command, words) {
  const child = spawn(command, words, { stdio: ['ignore', 'pipe', 'pipe'] });
  children.add(child);
  child.once('close', () => children.delete(child));
  return child;
}

function hasEnded(child) {
  return child.exitCode !== null || child.signalCode !== null;
}

function ended(child) {
  return new Promise((settle, fail) => {
    child.once('error', fail);
    child.once('close', settle);
  });
}

function freshDirectory(name) {
  const path = join(RESULTS, name);
  rmSync(path, { recursive: true, force: true });
  mkdirSync(path, { recursive: true });
  return path;
}

function quote(word) {
  return `'${word.replaceAll("'", `'\\''`)}'`;
}

// ---- Judging and reporting -------------------------------------------------------------------------

/**
 * A scenario passes as under the suite's requirement sets (no check failed; warnings do not count), and
 * beyond that only if a check succeeded at all: a client that never calls fails no check of `initialize`.
 */
function judge(row, expected, sets) {
  if (row.passed === 0 && row.problems.length === 0) row.problems.push('no check was exercised');
  row.ok = row.problems.length === 0;
  // What was asked for by name counts whether a set has it or not.
  row.counts = row.chosen || isRequired(sets, row.leg, row.revision, row.scenario);
  row.listed = expected.has(`${row.leg} ${row.revision} ${row.scenario}`);
  if (row.ok) row.verdict = row.listed ? 'PASS although listed' : 'pass';
  else if (row.listed) row.verdict = 'fail, expected';
  else row.verdict = row.counts ? 'FAIL' : 'fail';
  row.unexpected = row.counts && row.ok === row.listed;
}

function report(rows, faults) {
  const order = (row) => [LEGS.indexOf(row.leg), REVISIONS.indexOf(row.revision), RUNTIMES.indexOf(row.runtime)];
  const position = new Map(rows.map((row, index) => [row, [...order(row), index]]));
  rows.sort((left, right) => {
    const [a, b] = [position.get(left), position.get(right)];
    const at = a.findIndex((value, index) => value !== b[index]);
    return at === -1 ? 0 : a[at] - b[at];
  });

  const table = [['scenario', 'leg', 'revision', 'runtime', 'passed', 'failed', 'warned', 'scored', 'result']];
  for (const row of rows) {
    const counts = [row.passed, row.failed, row.warned].map(String);
    table.push([row.scenario, row.leg, row.revision, row.runtime, ...counts, row.scored ? 'scored' : 'unscored', row.verdict]);
  }
  const widths = table[0].map((_, column) => Math.max(...table.map((cells) => cells[column].length)));
  for (const cells of table) console.log(cells.map((cell, column) => cell.padEnd(widths[column])).join('  ').trimEnd());

  const unexpected = rows.filter((row) => row.unexpected);
  if (unexpected.length + faults.length > 0) console.log('\nUnexpected:');
  for (const row of unexpected) {
    console.log(`  ${row.leg} ${row.revision} ${row.runtime} ${row.scenario}`);
    const lines = row.ok ? ['passes, so expected-failures.yaml must not list it'] : row.problems;
    for (const line of lines) console.log(`    ${line.split('\n', 1)[0].slice(0, MESSAGE_LENGTH)}`);
  }
  for (const fault of faults) console.log(`  ${fault}`);

  const count = (scored, ok) => rows.filter((row) => row.scored === scored && row.ok === ok).length;
  console.log(
    `\nconformance: scored ${count(true, true)} passed, ${count(true, false)} failed; ` +
      `unscored ${count(false, true)} passed, ${count(false, false)} failed`,
  );
  return unexpected.length + faults.length > 0 ? 1 : 0;
}

try {
  process.exitCode = await main();
} catch (error) {
  console.error(`conformance: ${error instanceof Misuse ? error.message : error.stack}`);
  process.exitCode = 2;
}
