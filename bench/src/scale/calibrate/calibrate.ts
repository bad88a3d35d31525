import { setTimeout as sleep } from 'node:timers/promises';
import { sumOf } from '../../figures.ts';
import type { Coefficients } from '../model/coefficients.ts';
import type { Stretch } from '../stretch.ts';
import { learnRelay } from './relay.ts';
import { learnReads, learnWrites, warmUp } from './requests.ts';
import { beginRun, type CalibrateOptions, type Run } from './run.ts';
import { learnSockets } from './sockets.ts';

/** What processes do anyway is little, and all other costs depend on it: it is looked at for longer. */
const LONGER = 1.5;
/** After it was held, a gateway does at once what it has missed. */
const RECOVERY_MS = 1_000;

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

  const written = sumOf(writes.map(({ count }) => count));
  const perWrite = (of: (taken: Stretch) => number) => sumOf(writes.map(of)) / written;
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

/** What processes do when nobody wants anything; a gateway's part in it shows when it is held. */
async function learnStanding(run: Run): Promise<Stretch> {
  const [gateway = 0] = run.stack.gatewayPids;
  const rest = () => sleep(LONGER * run.seconds * 1_000);
  process.kill(gateway, 'SIGSTOP');
  const held = await run.measure('nothing, the gateway held', rest).finally(() => process.kill(gateway, 'SIGCONT'));
  run.learn('servers', ['kafka', 'redis', 'backup'], {}, held);
  run.learn('tasks', ['tasks', 'postgres'], {}, held);
  run.learn('auth', ['auth'], {}, held);
  await sleep(RECOVERY_MS);
  const idle = await run.measure('nothing', rest);
  run.learn('gateway', ['gateway', 'auth', 'tasks', 'postgres', 'kafka', 'redis'], {}, idle);
  return idle;
}
