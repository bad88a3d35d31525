import { Closers } from '@taskmesh/service';
import { startTraceCollector } from '@taskmesh/telemetry/testing';
import { join } from 'node:path';
import { cpuMsOfThreads } from '../cpu/thread-time.ts';
import { startLoad, type Load } from '../load/start-load.ts';
import type { Operation } from '../operations.ts';
import { describeMachine } from '../report/machine.ts';
import { startEmbeddedTarget } from '../targets/embedded.ts';
import type { TargetOptions } from '../targets/target.ts';
import type { TracesOptions } from './options.ts';
import type { TracesReport, TracesStart } from './report.ts';

const SIDES = ['without', 'with'] as const;

interface Side {
  name: (typeof SIDES)[number];
  pid: number;
  settle: () => Promise<void>;
}

type RunOptions = TracesOptions & TargetOptions & { signal: AbortSignal };

/**
 * Two processes of one program differ by several percent, each for as long as it lives, so one pair proves nothing: there
 * are many, each of two that have just started. Within a pair the two take turns, so that what the machine does meets both.
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
    for (const name of start % 2 === 0 ? SIDES : SIDES.toReversed()) {
      const target = await startEmbeddedTarget({
        dataDir: join(dataDir, `${name}-${start}`),
        env: { ...env, ...(name === 'with' ? traced : {}) },
        log,
      });
      closers.add(() => target.stop());
      signal.throwIfAborted();
      await load.populate(name, target.url, connections);
      postgresVersion = target.postgresVersion;
      sides.push({ name, pid: target.parts.find(({ role }) => role === 'server')?.pid ?? 0, settle: target.settle });
    }
    const measured: TracesStart[] = [];
    for (const operation of operations) measured.push(await measurePair({ ...options, operation, sides, load }));
    return { measured, postgresVersion };
  } finally {
    await closers.closeAll();
  }
}

async function measurePair(
  options: RunOptions & { operation: Operation; sides: Side[]; load: Load },
): Promise<TracesStart> {
  const { operation, sides, load, warmUpSeconds, rounds, seconds, signal } = options;
  const used = { without: { cpuMs: 0, requests: 0 }, with: { cpuMs: 0, requests: 0 } };

  const run = async ({ name, pid, settle }: Side, forSeconds: number) => {
    signal.throwIfAborted();
    await load.open({ target: name, operation, protocol: 'rest' });
    await settle();
    const before = cpuMsOfThreads(pid);
    const { requests } = await load.run(forSeconds);
    await settle();
    const cpuMs = cpuMsOfThreads(pid) - before;
    await load.close();
    return { cpuMs, requests };
  };

  const warmUps = Math.ceil(warmUpSeconds / seconds);
  for (let round = -warmUps; round < rounds; round++)
    // There and back again: whatever drifts meets both alike.
    for (const side of round % 2 === 0 ? sides : sides.toReversed()) {
      const { cpuMs, requests } = await run(side, seconds);
      if (round < 0) continue;
      used[side.name].cpuMs += cpuMs;
      used[side.name].requests += requests;
    }
  return { operation, without: used.without.cpuMs / used.without.requests, with: used.with.cpuMs / used.with.requests };
}
