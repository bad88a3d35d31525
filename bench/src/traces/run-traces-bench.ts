import { Closers } from '@taskmesh/service';
import { startTraceCollector } from '@taskmesh/telemetry/testing';
import { join } from 'node:path';
import type { Surroundings } from '../benchmark.ts';
import { cpuMsOfThreads } from '../cpu/one-process.ts';
import { startLoad, type Load } from '../load/start-load.ts';
import type { Operation } from '../operations.ts';
import { describeMachine } from '../report/machine.ts';
import { startEmbeddedTarget } from '../targets/embedded.ts';
import { tracesSettings } from '../targets/start-targets.ts';
import { pidOf } from '../targets/target.ts';
import type { TracesOptions } from './options.ts';
import type { TracesStart } from './report.ts';

const SIDES = ['without', 'with'] as const;

interface Side {
  name: (typeof SIDES)[number];
  pid: number;
  settle: () => Promise<void>;
}

type RunOptions = TracesOptions & Surroundings;

/**
 * Two processes of one program differ by several percent, each for as long as it lives, so one pair proves nothing: there
 * are many, each of two that have just started. Within a pair the two take turns, so that what the machine does meets both.
 */
export async function runTracesBench(options: RunOptions) {
  const { starts } = options;
  await using closers = new Closers();
  const collector = closers.use(await startTraceCollector());
  let postgresVersion = '';
  const measured: TracesStart[] = [];
  for (let start = 1; start <= starts; start++) {
    options.log(`Start ${start} of ${starts} …`);
    const ofStart = await measureStart({ ...options, start, collector });
    ({ postgresVersion } = ofStart);
    measured.push(...ofStart.measured);
  }
  return { machine: describeMachine(postgresVersion), measured, exports: collector.exports.length };
}

async function measureStart(options: RunOptions & { start: number; collector: { url: string } }) {
  const { dataDir, env, log, signal, operations, connections, ratio, start } = options;
  const traced = tracesSettings(options.collector, ratio);
  await using closers = new Closers();
  const load = closers.use(await startLoad(join(dataDir, 'load.log')));
  const sides: Side[] = [];
  let postgresVersion = '';
  for (const name of start % 2 === 0 ? SIDES : SIDES.toReversed()) {
    const given = { dataDir: join(dataDir, `${name}-${start}`), env: { ...env, ...(name === 'with' && traced) }, log };
    const target = closers.use(await startEmbeddedTarget(given));
    signal.throwIfAborted();
    await load.populate(name, target.url, connections);
    postgresVersion = target.postgresVersion;
    sides.push({ name, pid: pidOf(target), settle: target.settle });
  }
  const measured: TracesStart[] = [];
  for (const operation of operations) measured.push(await measurePair({ ...options, operation, sides, load }));
  return { measured, postgresVersion };
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
