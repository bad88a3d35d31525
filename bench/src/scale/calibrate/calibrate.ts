import type { Coefficients } from '../model/coefficients.ts';
import type { Stretch } from '../stretch.ts';
import { learnRelay } from './relay.ts';
import { learnReads, learnWrites, warmUp } from './requests.ts';
import { beginRun, type CalibrateOptions } from './run.ts';
import { learnSockets } from './sockets.ts';
import { learnStanding } from './standing.ts';

/**
 * What each kind of work costs, one after the other: from what a stretch took, what is known already is subtracted (also
 * what processes do anyway), and the rest is the new kind's.
 */
export async function calibrate(options: CalibrateOptions): Promise<Coefficients> {
  const run = beginRun(options);
  await warmUp(run);
  const idle = await learnStanding(run);
  const logins = await learnReads(run);
  const { roundMs, relayPerS, backlog } = await learnRelay(run, idle);
  const writes = await learnWrites(run, roundMs);
  await options.stack.stores.vacuum();
  const memory = await learnSockets(run, roundMs);

  const written = writes.reduce((sum, { count }) => sum + count, 0);
  const perWrite = (of: (taken: Stretch) => number) => writes.reduce((sum, taken) => sum + of(taken), 0) / written;
  const redisPerS = idle.counts.redisCommands / idle.countedSeconds;
  return {
    cpuMs: run.costs,
    roundMs,
    relayPerS,
    bytes: {
      ...memory,
      task: backlog.counts.bytes.tasks / options.backlog,
      feed: backlog.counts.bytes.feeds / options.backlog,
      change: perWrite(({ counts }) => counts.bytes.changes),
      wal: perWrite(({ counts }) => counts.walBytes),
      record: perWrite(({ counts }) => counts.kafkaBytes),
    },
    flushes: perWrite(({ counts }) => counts.flushes),
    redis: {
      login: (logins.counts.redisCommands - redisPerS * logins.countedSeconds) / logins.count,
      gatewaySecond: redisPerS,
    },
  };
}
