import { databaseUrl, findFreePorts, serviceReady, startChild, type RunningProcess } from '@taskmesh/local';
import { createRandom, eventually, numberFromEnv } from '@taskmesh/testing';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { expectKept, underLoad } from './campaign.ts';
import { useStack } from '../stack.ts';
import { inject } from './inject.ts';

const SEED = numberFromEnv('TASKMESH_SEED', 20_261_124);
const MAIN = fileURLToPath(new URL('../../services/tasks/src/main.ts', import.meta.url));
const OWNERS = 3;
const ROUNDS = 3;
const PARTS = 8;
/** Longer than the 8 seconds of silence after which PostgreSQL ends a session. */
const FREEZE_MS = 12_000;

const random = createRandom(SEED);
const faulty = useStack('relays');
let other: RunningProcess;
let otherAdmin: string;

beforeAll(async () => {
  const { stack, dataDir } = faulty;
  const [port = 0, adminPort = 0] = await findFreePorts(2);
  otherAdmin = `http://127.0.0.1:${adminPort}`;
  const env = {
    POSTGRES_URL: databaseUrl(stack.servers.postgres, 'taskmesh_tasks'),
    KAFKA_BROKERS: stack.servers.kafka,
    AUTH_URL: stack.processes.get('auth')?.current.url,
    IDENTITY_PUBLIC_KEYS_FILE: join(dataDir, 'keys/identity-public.json'),
    IDENTITY_KEY_FILE: join(dataDir, 'keys/tasks-identity.json'),
    PORT: String(port),
    ADMIN_PORT: String(adminPort),
  };
  const logFile = join(dataDir, 'tasks-2.log');
  other = await startChild({ command: process.execPath, args: [MAIN], env, logFile, ladder: [['SIGKILL', 5_000]] });
  await eventually(() => serviceReady(otherAdmin));
}, 60_000);
afterAll(() => other.stop());

/** Waits until a process has so many parts. */
const has = (adminUrl: string, relayParts: number) =>
  eventually(async () => {
    expect(await (await fetch(`${adminUrl}/readyz?verbose`)).json()).toMatchObject({ checks: { relayParts } });
  });

it('a process of tasks that is frozen for longer than its lease, beside another one, loses, repeats and reorders nothing in any protocol', async () => {
  const { stack } = faulty;
  const admin = stack.processes.get('tasks')?.current.adminUrl ?? '';
  const names = Array.from({ length: OWNERS }, (_, owner) => `relays-${owner}-of-${SEED}`);
  const kept = await underLoad({ urls: stack.urls, names, random, paceMs: 40 }, async () => {
    for (let round = 0; round < ROUNDS; round++) {
      await inject(faulty, { target: 'tasks', kind: 'kill', forMs: 0 });
      await has(otherAdmin, PARTS); // the second process takes over all parts
      other.kill('SIGSTOP');
      await sleep(FREEZE_MS);
      await has(admin, PARTS);
      other.kill('SIGCONT');
      await has(otherAdmin, 0);
    }
  });
  expectKept(kept);
}, 240_000);
