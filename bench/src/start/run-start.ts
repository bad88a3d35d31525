import { join } from 'node:path';
import type { Surroundings } from '../benchmark.ts';
import { describeMachine } from '../report/machine.ts';
import { targetEnvironment } from '../targets/start-targets.ts';
import { measureIdle } from './measure-idle.ts';
import { measureStarts } from './measure-starts.ts';
import { measureSubscribers } from './measure-subscribers.ts';
import type { StartOptions } from './options.ts';

/** Starts, then an idle platform, then subscribers. */
export async function runStart(options: StartOptions & Surroundings) {
  const { dataDir, parts, starts, idleSeconds, signal, log } = options;
  const env = targetEnvironment(options.env);
  const measured = parts.includes('starts')
    ? await measureStarts({ dataDir: join(dataDir, 'starts'), env, starts, signal, log })
    : [];
  if (parts.includes('idle')) log(`idle for ${idleSeconds} s …`);
  const idle = parts.includes('idle')
    ? await measureIdle({ dataDir: join(dataDir, 'idle'), env, hookDir: join(dataDir, 'hooks'), idleSeconds })
    : undefined;
  const subscribers = parts.includes('subscribers')
    ? await measureSubscribers({ ...options, dataDir: join(dataDir, 'subscribers') })
    : [];
  return { machine: describeMachine(), starts: measured, idle, subscribers };
}
