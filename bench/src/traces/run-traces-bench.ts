import { Closers } from '@taskmesh/service';
import { startTraceCollector } from '@taskmesh/telemetry/testing';
import { join } from 'node:path';
import { cpuMsOfThreads } from '../cpu/thread-time.ts';
import { median } from '../figures.ts';
import { startLoad, type Load } from '../load/start-load.ts';
import type { Operation } from '../operations.ts';
import { describeMachine } from '../report/machine.ts';
import { startEmbeddedTarget } from '../targets/embedded.ts';
import type { TargetOptions } from '../targets/target.ts';
import type { TracesOptions } from './options.ts';
import type { TracesReport, TracesStart } from './report.ts';

const GATE = new URL('gate-hook.ts', import.meta.url);
const SIDES = ['without', 'idle', 'recording'] as const;
type SideName = (typeof SIDES)[number];

interface Side {
  name: SideName;
  pid: number;
  settle: () => Promise<void>;
}

type RunOptions = TracesOptions & TargetOptions & { signal: AbortSignal };

/**
 * Two processes of one program differ by several percent, each for as long as it lives. So one process is compared with
 * itself: while it records with the moments in which it pauses, and those with the time before it ever recorded (the code that
 * V8 had made for it fits no longer), beside processes that never record. And there are several starts.
 */
export async function runTracesBench(options: RunOptions): Promise<TracesReport> {
  const { operations, ratio, starts, warmUpSeconds, rounds, seconds, connections } = options;
  const startedAt = new Date().toISOString();
  const collector = await startTraceCollector();
  try {
    let postgresVersion = '';
    const measured: TracesStart[] = [];
    for (let start = 1; start <= starts; start++) {
      options.log(`Start ${start} of ${starts} …`);
      const ofStart = await measureStart({ ...options, start, collectorUrl: collector.url });
      ({ postgresVersion } = ofStart);
      measured.push(...ofStart.measured);
    }
    const parameters = { operations, ratio, starts, warmUpSeconds, rounds, seconds, connections };
    const machine = describeMachine(postgresVersion);
    return { startedAt, machine, parameters, measured, exports: collector.exports.length };
  } finally {
    await collector.stop();
  }
}

async function measureStart(options: RunOptions & { start: number; collectorUrl: string }) {
  const { dataDir, env, log, signal, operations, connections, ratio, start, collectorUrl } = options;
  const traced = {
    OTEL_EXPORTER_OTLP_ENDPOINT: collectorUrl,
    OTEL_TRACES_SAMPLER: 'parentbased_traceidratio',
    OTEL_TRACES_SAMPLER_ARG: String(ratio),
  };
  const closers = new Closers();
  try {
    const load = await startLoad(join(dataDir, 'load.log'));
    closers.add(() => load.stop());
    const sides: Side[] = [];
    let postgresVersion = '';
    for (const name of SIDES) {
      const target = await startEmbeddedTarget({
        dataDir: join(dataDir, `${name}-${start}`),
        env: { ...env, NODE_OPTIONS: `--import=${GATE.href}`, ...(name === 'without' ? {} : traced) },
        log,
      });
      closers.add(() => target.stop());
      signal.throwIfAborted();
      await load.populate(name, target.url, connections);
      postgresVersion = target.postgresVersion;
      sides.push({ name, pid: target.parts.find(({ role }) => role === 'server')?.pid ?? 0, settle: target.settle });
    }
    const measured: TracesStart[] = [];
    for (const operation of operations) measured.push(await measureOperation({ ...options, operation, sides, load }));
    return { measured, postgresVersion };
  } finally {
    await closers.closeAll();
  }
}

async function measureOperation(
  options: RunOptions & { operation: Operation; sides: Side[]; load: Load },
): Promise<TracesStart> {
  const { operation, sides, load, warmUpSeconds, rounds, seconds, signal } = options;
  const recording = sides.find(({ name }) => name === 'recording');
  if (!recording) throw new Error('No platform records.');

  /** CPU in milliseconds per request. */
  const costOf = async ({ name, pid, settle }: Side, forSeconds = seconds) => {
    signal.throwIfAborted();
    await load.open({ target: name, operation, protocol: 'rest' });
    await settle();
    const before = cpuMsOfThreads(pid);
    const { requests } = await load.run(forSeconds);
    await settle();
    const cost = (cpuMsOfThreads(pid) - before) / requests;
    await load.close();
    return cost;
  };
  const toggle = () => process.kill(recording.pid, 'SIGUSR2');
  const warmUp = async () => {
    for (const side of sides) await costOf(side, warmUpSeconds);
  };
  // There and back again: whatever drifts meets all alike.
  const turns = () =>
    Array.from({ length: rounds }, (_, round) => (round % 2 === 0 ? sides : sides.toReversed())).flat();

  const before: Record<SideName, number[]> = { without: [], idle: [], recording: [] };
  await warmUp();
  for (const side of turns()) before[side.name].push(await costOf(side));

  const after: Record<SideName | 'paused', number[]> = { without: [], idle: [], recording: [], paused: [] };
  toggle();
  await warmUp();
  for (const side of turns()) {
    after[side.name].push(await costOf(side));
    if (side !== recording) continue;
    toggle();
    after.paused.push(await costOf(side));
    toggle();
  }
  toggle(); // the next operation begins as this one did
  return { operation, before: mediansOf(before), after: mediansOf(after) };
}

function mediansOf<Name extends string>(costs: Record<Name, number[]>): Record<Name, number> {
  const medians = Object.entries<number[]>(costs).map(([name, values]) => [name, median(values)]);
  return Object.fromEntries(medians) as Record<Name, number>; // the same names
}
