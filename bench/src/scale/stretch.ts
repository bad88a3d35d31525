import { setTimeout as sleep } from 'node:timers/promises';
import type { ScaleStack } from './stack.ts';
import { COUNTS_LATE_MS, type Counts } from './stores.ts';
import { noCpu, PARTS, type Cpu } from './model/work.ts';

/** What some work took, until its last change was published. CPU in milliseconds. */
export interface Stretch {
  seconds: number;
  cpu: Cpu;
  relaySession: number;
  /** In a little more time than the CPU's: stores tell their counts late. */
  counts: Counts;
  countedSeconds: number;
}

export async function stretch(stack: ScaleStack, work: () => Promise<unknown>): Promise<Stretch> {
  const counted = await stack.stores.counts();
  const countedFrom = performance.now();
  const before = await stack.cpu();
  await work();
  while (!(await stack.stores.isPublished())) await sleep(20);
  const after = await stack.cpu();
  await sleep(COUNTS_LATE_MS);
  const now = await stack.stores.counts();
  const cpu = noCpu();
  for (const part of PARTS) cpu[part] = after.parts[part] - before.parts[part];
  return {
    seconds: (after.at - before.at) / 1_000,
    cpu,
    relaySession: after.relaySession - before.relaySession,
    countedSeconds: (performance.now() - countedFrom) / 1_000,
    counts: {
      commits: now.commits - counted.commits,
      walBytes: now.walBytes - counted.walBytes,
      flushes: now.flushes - counted.flushes,
      bytes: {
        tasks: now.bytes.tasks - counted.bytes.tasks,
        changes: now.bytes.changes - counted.bytes.changes,
        feeds: now.bytes.feeds - counted.bytes.feeds,
      },
      kafkaBytes: now.kafkaBytes - counted.kafkaBytes,
      redisCommands: now.redisCommands - counted.redisCommands,
    },
  };
}
