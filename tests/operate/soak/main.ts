import { number, parseOptions, runCommand, printLine, serviceDatabases, startStack, type Stack } from '@taskmesh/local';
import { nodeEnvironment, numberFromEnv } from '@taskmesh/testing';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { startLoad, type RequestTimes } from './load.ts';
import { COLLECT_ON_SIGNAL, sample, type Series } from './samples.ts';

const SAMPLES = 120;
/** Tables whose rows are kept for a configured time, whatever their number; all other figures must be flat. */
const KEPT_BY_RETENTION: Record<string, string> = {
  changes: 'CHANGE_RETENTION_HOURS',
  audit_log: 'AUDIT_RETENTION_DAYS',
  idempotency_keys: '24 hours',
  ended_sessions: 'ACCESS_TOKEN_TTL_S',
  sessions: 'ACCESS_TOKEN_TTL_S when they have ended',
  refresh_tokens: 'ACCESS_TOKEN_TTL_S when their session has ended',
};
const MIB = 1024 * 1024;
const TOLERANCES: Record<string, Tolerance> = {
  descriptors: { relative: 0.05, absolute: 6 },
  timers: { relative: 0.1, absolute: 10 },
  heap: { relative: 0.05, absolute: 5 * MIB },
  external: { relative: 0.05, absolute: 5 * MIB },
  resident: { relative: 0.1, absolute: 15 * MIB },
  rows: { relative: 0.05, absolute: 40 },
};

await runCommand({
  async start(signal) {
    const values = parseOptions(process.argv.slice(2), { texts: ['minutes'], flags: [] });
    const minutes = number('--minutes', values.minutes ?? '30', { min: 1, max: 10_000 });
    const dataDir = mkdtempSync(join(tmpdir(), 'taskmesh-soak-'));
    const env = { ...nodeEnvironment(), LOG_LEVEL: 'warn', NODE_OPTIONS: COLLECT_ON_SIGNAL };
    const stack = await startStack({ dataDir, gateways: 2, env, log: printLine, signal });
    const stop = async () => {
      await stack.stop();
      rmSync(dataDir, { recursive: true, force: true });
    };
    const { series, samplings, load, verdicts } = await run(stack, minutes, signal).finally(stop);

    const broken = verdicts.flatMap(({ contradictions }) =>
      contradictions.map(({ fault, what }) => `${fault}: ${what}`),
    );
    const surprises = verdicts.flatMap((verdict) => verdict.surprises);
    const problems = [...report(series), ...broken, ...surprises, ...load.surprises];
    const confirmed = load.accounts.reduce((sum, account) => sum + account.figures().confirmed, 0);
    const done = Object.entries(load.counts).map(([name, count]) => `${name} ${count}`);
    printLine(`\nDone: writes ${confirmed}, ${done.join(', ')}.`);
    const beside = load.lists.beside.filter(({ from, to }) => !samplings.some((one) => from < one.to && to > one.from));
    const latencies = `alone ${latency(load.lists.alone)}; beside all that ${latency(beside)}`;
    printLine(`Lists: ${latencies}, collections for samples left out.`);
    for (const problem of problems.slice(0, 40)) printLine(`! ${problem}`);
    if (problems.length === 0) printLine('Everything is flat, and no promise broke.');
    process.exit(problems.length === 0 && !signal.aborted ? 0 : 1);
  },
});

async function run(stack: Stack, minutes: number, signal: AbortSignal) {
  const series: Series = new Map();
  const samplings: RequestTimes[] = [];
  const load = await startLoad(stack.urls, numberFromEnv('TASKMESH_SEED', 20_261_122));
  const beganAt = performance.now();
  for (let count = 1; count <= SAMPLES && !signal.aborted; count++) {
    const dueAt = beganAt + (count * minutes * 60_000) / SAMPLES; // independent of the duration of samples
    await sleep(Math.max(0, dueAt - performance.now()), undefined, { signal }).catch(() => undefined);
    const from = performance.now();
    await sample(stack, serviceDatabases(), series);
    samplings.push({ from, to: performance.now() });
    if (count % (SAMPLES / 10) === 0) printLine(`${Math.round((count / SAMPLES) * minutes)} of ${minutes} minutes`);
  }
  await load.stop();
  const verdicts = await Promise.all(load.accounts.map((account) => account.verdict()));
  await Promise.all(load.accounts.map((account) => account.close()));
  return { series, samplings, load, verdicts };
}

function latency(asked: RequestTimes[]): string {
  const times = asked.map(({ from, to }) => to - from).toSorted((one, other) => one - other);
  const at = (share: number) => `${times[Math.floor(share * (times.length - 1))]?.toFixed(1)} ms`;
  return `p50 ${at(0.5)}, p99 ${at(0.99)}`;
}

/** Prints a line per figure. Returns the figures that still grow. */
function report(series: Series): string[] {
  const growing: string[] = [];
  for (const [name, samples] of [...series].toSorted(([one], [other]) => one.localeCompare(other))) {
    const kind = name.startsWith('rows ') ? 'rows' : (name.split(' ')[1] ?? '');
    const isMemory = kind === 'heap' || kind === 'external' || kind === 'resident';
    const tolerance = TOLERANCES[kind] ?? { relative: 0, absolute: 0 };
    const { third, last, isFlat } = flatness(samples, tolerance);
    const kept = KEPT_BY_RETENTION[name.split('.').at(-1) ?? ''];
    const shown = (value: number) => (isMemory ? `${(value / MIB).toFixed(1)} MiB` : String(value));
    const remark = kept ? `  kept: ${kept}` : '';
    printLine(`${name.padEnd(44)} ${shown(third).padStart(10)} → ${shown(last).padStart(10)}${remark}`);
    if (!isFlat && !kept) growing.push(`${name} grew from ${shown(third)} to ${shown(last)}`);
  }
  return growing;
}

/** The allowed growth: as a share of the third quarter's value, and of small figures, in their own unit. */
type Tolerance = Record<'relative' | 'absolute', number>;

/** The median of the third and of the last quarter of the samples, and whether a figure no longer grows. */
function flatness(values: readonly number[], tolerance: Tolerance) {
  const quarter = Math.floor(values.length / 4);
  if (quarter < 2) throw new Error('Too few samples to tell.');
  const typical = (part: readonly number[]) => part.toSorted((one, other) => one - other)[part.length >> 1] ?? 0;
  const third = typical(values.slice(-2 * quarter, -quarter));
  const last = typical(values.slice(-quarter));
  return { third, last, isFlat: last - third <= Math.max(third * tolerance.relative, tolerance.absolute) };
}
