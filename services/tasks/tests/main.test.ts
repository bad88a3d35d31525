import { createIdentitySigner, createSigningKey, publicKeys } from '@taskmesh/identity';
import { createTestDatabase, eventually, makeTempDir, startService } from '@taskmesh/testing';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { migrations } from '../migrations/index.ts';
import type { GraphqlResult } from './support/running-tasks.ts';

const MAIN = fileURLToPath(new URL('../src/main.ts', import.meta.url));
const USER = '01890000-0000-7000-8000-0000000000aa';
const folder = makeTempDir();

const database = await createTestDatabase('main');
it('serves GraphQL and other services, is ready without Kafka, and stops on SIGTERM', async () => {
  const key = await createSigningKey('gateway');
  const keys = join(folder, 'keys.json');
  writeFileSync(keys, JSON.stringify(publicKeys({ keys: [key] })));
  const own = join(folder, 'tasks.json');
  writeFileSync(own, JSON.stringify(await createSigningKey('tasks')));
  const tasks = startService(MAIN, {
    POSTGRES_URL: database.url,
    KAFKA_BROKERS: '127.0.0.1:1',
    IDENTITY_PUBLIC_KEYS_FILE: keys,
    IDENTITY_KEY_FILE: own,
    AUTH_URL: 'http://127.0.0.1:1',
  });
  const [service, admin] = [await tasks.url(), await tasks.adminUrl()];

  const signer = createIdentitySigner({ issuer: 'gateway', key, clock: { now: () => Date.now() } });
  const post = async (path: string, body: unknown, token: string) => {
    const headers = { 'content-type': 'application/json', authorization: `Bearer ${token}` };
    const response = await fetch(service + path, { method: 'POST', headers, body: JSON.stringify(body) });
    const result: GraphqlResult = await response.json();
    return { status: response.status, body: result };
  };
  const user = await signer.tokenFor({ role: 'user', userId: USER, sessionId: 's' }, 'tasks');
  const gateway = await signer.tokenFor({ role: 'service', name: 'gateway' }, 'tasks');

  const create = { query: 'mutation { createTask(input: { title: "over HTTP" }) { title } }' };
  const created = { data: { createTask: { title: 'over HTTP' } } };
  expect(await post('/graphql', create, user)).toEqual({ status: 200, body: created });
  expect((await post('/graphql', create, 'nonsense')).status).toBe(401);

  const operator = await signer.tokenFor({ role: 'operator' }, 'tasks');
  const { body } = await post('/internal/status', { args: [] }, operator);
  expect(body.result).toMatchObject({
    store: { isUp: true, schema: migrations.at(-1)?.name, missing: [], unknown: [] },
    feed: { epoch: 1, pending: 1, deadLetters: { relay: 0, gateway: 0 } },
    eventLog: { system: 'kafka', isUp: false },
  });
  for (const [name, args, allowed] of [
    ['heads', [[USER]], gateway],
    ['status', [], operator],
    ['deadLetters', [{}], operator],
    ['replayDeadLetters', [{ all: true }], operator],
    ['discardDeadLetters', [{ all: true }], operator],
  ] as const)
    for (const token of [user, gateway, operator]) {
      const { status, body } = await post(`/internal/${name}`, { args }, token);
      const expected = token === allowed ? [200, undefined] : [403, 'FORBIDDEN'];
      expect([name, status, body.error?.code]).toEqual([name, ...expected]);
    }

  await eventually(async () => {
    const ready = await fetch(`${admin}/readyz?verbose`);
    const checks = { database: true, schema: true, eventLog: false, relayParts: 8, started: true };
    expect([ready.status, await ready.json()]).toEqual([200, { status: 'ok', ok: true, checks }]);
  });
  expect(await (await fetch(`${admin}/metrics`)).text()).toMatch(/^taskmesh_outbox_pending_messages\{.*\} 1$/m);

  expect(await tasks.stop()).toEqual({ code: 0, signal: null });
});
