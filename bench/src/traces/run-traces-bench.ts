import { startPostgres } from '@taskmesh/local';
import { Closers } from '@taskmesh/service';
import { startTraceCollector } from '@taskmesh/telemetry/testing';
import { join } from 'node:path';
import type { Surroundings } from '../benchmark.ts';
import { cpuMsOfThreads } from '../cpu/one-process.ts';
import { startLoad } from '../load/start-load.ts';
import type { Operation } from '../operations.ts';
import { describeMachine } from '../report/machine.ts';
import { changesPublished } from '../targets/tasks-database.ts';
import type { TracesOptions } from './options.ts';
import { startPlatform } from './start-platform.ts';

/** CPU of the platform's process, all its threads, in milliseconds per request of a slice. */
export type Pair = Record<'without' | 'with', number>;

/** What recording this share of an operation's requests costs. */
export interface TracesMeasured {
  operation: Operation;
  share: number;
  pairs: Pair[];
}

/**
 * Two processes of one program differ by several percent, each for as long as it lives. So there is one, beside itself: recording
 * goes on and off, and the figure is the mean over many pairs of slices that are neighbours.
 */
export async function runTracesBench(options: TracesOptions & Surroundings) {
  const { dataDir, env, log, signal, operations, shares, connections, pairs, seconds, warmUpSeconds } = options;
  await using closers = new Closers();
  const collector = closers.use(await startTraceCollector());
  const postgres = closers.use(await startPostgres({ dataDir: join(dataDir, 'postgres'), log: () => undefined }));
  const given = { dataDir: join(dataDir, 'taskmesh'), env, postgresUrl: postgres.url, collector };
  const platform = closers.use(await startPlatform(given));
  const load = closers.use(await startLoad(join(dataDir, 'load.log')));
  await load.populate('embedded', platform.url, connections);
  let exports = 0;

  const slice = async (share: number): Promise<number> => {
    signal.throwIfAborted();
    await platform.record(share);
    const before = cpuMsOfThreads(platform.pid);
    const { requests } = await load.run(seconds);
    await changesPublished(postgres.url);
    const cpuMs = cpuMsOfThreads(platform.pid) - before;
    exports += collector.exports.splice(0).length;
    return cpuMs / requests;
  };
  /** The other one is first each time, so that what drifts meets both alike. */
  const pair = async (share: number, index: number): Promise<Pair> => {
    if (index % 2 === 0) return { without: await slice(0), with: await slice(share) };
    const recorded = await slice(share);
    return { without: await slice(0), with: recorded };
  };

  const measured: TracesMeasured[] = [];
  const warmUps = Math.ceil(warmUpSeconds / seconds / 2);
  for (const operation of operations) {
    await load.open({ target: 'embedded', operation, protocol: 'rest' });
    for (const share of shares) {
      log(`${operation}, ${share * 100} % recorded …`);
      const found: Pair[] = [];
      for (let index = -warmUps; index < pairs; index++) {
        const taken = await pair(share, index);
        if (index >= 0) found.push(taken);
      }
      measured.push({ operation, share, pairs: found });
    }
    await load.close();
  }
  return { machine: describeMachine(postgres.version), measured, exports };
}
