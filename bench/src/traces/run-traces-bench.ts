import { Closers } from '@taskmesh/service';
import { startTraceCollector } from '@taskmesh/telemetry/testing';
import { join } from 'node:path';
import { cpuMsOfThreads } from '../cpu/thread-time.ts';
import { quantile } from '../figures.ts';
import { startLoad, type Load } from '../load/start-load.ts';
import type { Operation } from '../operations.ts';
import { describeMachine } from '../report/machine.ts';
import { startEmbeddedTarget } from '../targets/embedded.ts';
import type { TargetOptions } from '../targets/target.ts';
import type { TracesOptions } from './options.ts';

const WARM_UP_S = 2;

export interface TracesReport {
  startedAt: string;
  machine: ReturnType<typeof describeMachine>;
  parameters: Omit<TracesOptions, 'operations' | 'name' | 'help'>;
  measured: TracesFigures[];
  /** How many exports the collector got. */
  exports: number;
}

/** CPU of the platform's process in milliseconds per request, and how many times as much it is with traces, pair by pair. */
export interface TracesFigures {
  operation: Operation;
  off: number;
  on: number;
  ratio: { lower: number; median: number; upper: number };
  pairs: { off: number; on: number }[];
}

interface Side {
  name: string;
  pid: number;
  settle: () => Promise<void>;
}

export async function runTracesBench(
  options: TracesOptions & TargetOptions & { signal: AbortSignal },
): Promise<TracesReport> {
  const { dataDir, env, log, signal, operations } = options;
  const { ratio, seconds, rounds, connections } = options;
  const startedAt = new Date().toISOString();
  const closers = new Closers();
  try {
    const collector = await startTraceCollector();
    closers.add(() => collector.stop());
    const traced = {
      OTEL_EXPORTER_OTLP_ENDPOINT: collector.url,
      OTEL_TRACES_SAMPLER: 'parentbased_traceidratio',
      OTEL_TRACES_SAMPLER_ARG: String(ratio),
    };
    const load = await startLoad(join(dataDir, 'load.log'));
    closers.add(() => load.stop());
    let postgresVersion = '';
    const start = async (name: string, more: Record<string, string>): Promise<Side> => {
      log(`Starting ${name} …`);
      const target = await startEmbeddedTarget({ dataDir: join(dataDir, name), env: { ...env, ...more }, log });
      closers.add(() => target.stop());
      signal.throwIfAborted();
      await load.populate(name, target.url, connections);
      postgresVersion = target.postgresVersion;
      return { name, pid: target.parts.find(({ role }) => role === 'server')?.pid ?? 0, settle: target.settle };
    };
    const sides = [await start('off', {}), await start('on', traced)] as const;
    const measured: TracesFigures[] = [];
    for (const operation of operations) {
      log(`${operation} …`);
      measured.push(await measurePairs({ operation, sides, load, rounds, seconds, signal }));
    }
    const parameters = { ratio, seconds, rounds, connections };
    return {
      startedAt,
      machine: describeMachine(postgresVersion),
      parameters,
      measured,
      exports: collector.exports.length,
    };
  } finally {
    await closers.closeAll();
  }
}

async function measurePairs(options: {
  operation: Operation;
  sides: readonly [Side, Side];
  load: Load;
  rounds: number;
  seconds: number;
  signal: AbortSignal;
}): Promise<TracesFigures> {
  const { operation, load, rounds, seconds, signal } = options;
  const [off, on] = options.sides;
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
  for (const side of options.sides) await costOf(side, WARM_UP_S);
  const pairs: TracesFigures['pairs'] = [];
  for (let round = 0; round < rounds; round++) {
    // Off, on, on, off: whatever drifts meets both alike.
    const first = round % 2 === 0 ? await costOf(off) : undefined;
    const costOn = await costOf(on);
    pairs.push({ off: first ?? (await costOf(off)), on: costOn });
  }
  const ratios = pairs.map((pair) => pair.on / pair.off);
  return {
    operation,
    off: quantile(
      pairs.map((pair) => pair.off),
      0.5,
    ),
    on: quantile(
      pairs.map((pair) => pair.on),
      0.5,
    ),
    ratio: { lower: quantile(ratios, 0.25), median: quantile(ratios, 0.5), upper: quantile(ratios, 0.75) },
    pairs,
  };
}

export function describeTraces({ parameters, measured, exports }: TracesReport): string {
  const percent = (ratio: number) => `${((ratio - 1) * 100).toFixed(1)} %`;
  const rows = measured.map(
    ({ operation, off, on, ratio }) =>
      `| ${operation} | ${off.toFixed(4)} | ${on.toFixed(4)} | ${percent(ratio.median)} | ${percent(ratio.lower)} to ${percent(ratio.upper)} |`,
  );
  const head = `CPU in ms per request of the platform's process; ${parameters.ratio * 100} % recorded, ${parameters.rounds} pairs of rounds of ${parameters.seconds} s, ${exports} exports`;
  return [
    head,
    '',
    '| operation | off | on | more | half of the pairs |',
    '| --- | ---: | ---: | ---: | --- |',
    ...rows,
  ].join('\n');
}
