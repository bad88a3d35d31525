import { setTimeout as sleep } from 'node:timers/promises';
import type { Stretch } from '../stretch.ts';
import { standing, type Run } from './run.ts';

/** It is little, and all other costs depend on it. */
const LONGER = 1.5;
/** After it was held, a gateway does at once what it has missed. */
const RECOVERY_MS = 1_000;

/** What processes do when nobody wants anything; a gateway's part in it shows when it is held. */
export async function learnStanding(run: Run): Promise<Stretch> {
  const { stack } = run;
  const seconds = LONGER * run.seconds;
  const [gateway = 0] = stack.gatewayPids;
  const rest = () => sleep(seconds * 1_000);
  process.kill(gateway, 'SIGSTOP');
  const held = await run.measure('nothing, the gateway held', rest).finally(() => process.kill(gateway, 'SIGCONT'));
  run.learn({ kind: 'servers', parts: ['kafka', 'redis', 'backup'], amounts: { servers: held.seconds } }, held.cpu);
  run.learn({ kind: 'tasks', parts: ['tasks', 'postgres'], amounts: { tasks: held.seconds } }, held.cpu);
  run.learn({ kind: 'auth', parts: ['auth'], amounts: { auth: held.seconds } }, held.cpu);

  await sleep(RECOVERY_MS);
  const idle = await run.measure('nothing', rest);
  run.learn(
    {
      kind: 'gateway',
      parts: ['gateway', 'auth', 'tasks', 'postgres', 'kafka', 'redis'],
      amounts: standing(idle.seconds),
    },
    idle.cpu,
  );
  return idle;
}
