import { jest } from '@jest/globals';
import { createIdentitySigner, createSigningKey, publicKeys, type Identity } from '@taskmesh/identity';
import { authInternal, authOperators, createInternalClient, createServicePool } from '@taskmesh/internal-api';
import { systemClock } from '@taskmesh/service';
import type { SubgraphResult } from '@taskmesh/subgraph';
import {
  createProxyFor,
  createTestDatabase,
  eventually,
  type FaultyProxy,
  makeTempDir,
  nodeEnvironment,
  startService,
  type TestDatabase,
} from '@taskmesh/testing';
import { execFile } from 'node:child_process';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { codeOf, LOGIN, LOGOUT, ME, sessionOf, SIGN_UP } from './support/operations.ts';
import { PASSWORD } from './support/running-auth.ts';

/** A file with the public keys of callers, and the gateway's signer. */
async function createCaller(dir: string) {
  const key = await createSigningKey('gateway-1');
  const keysFile = join(dir, 'identity-public.json');
  await writeFile(keysFile, JSON.stringify(publicKeys({ keys: [key] })));
  return { keysFile, signer: createIdentitySigner({ issuer: 'gateway', key, clock: systemClock }) };
}

type Caller = Awaited<ReturnType<typeof createCaller>>;

/** Calls auth as the gateway does. */
async function post(url: string, options: { caller: Caller; identity?: Identity; query: string; variables?: object }) {
  const { caller, identity = { role: 'anonymous', ip: '192.0.2.1' }, query, variables } = options;
  const token = await caller.signer.tokenFor(identity, 'auth');
  const response = await fetch(`${url}/graphql`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', authorization: `Bearer ${token}` },
    body: JSON.stringify({ query, variables }),
  });
  return (await response.json()) as SubgraphResult;
}

jest.setTimeout(120_000);

let dir: string;
let database: TestDatabase;
let proxy: FaultyProxy;
let caller: Caller;
let env: Record<string, string>;

/** A setting of 0.1.0, which auth ignores. */
const KAFKA_BROKERS = 'kafkas://auth@127.0.0.1:1?sslrootcert=/nowhere.pem';
const start = (more: Record<string, string> = {}) =>
  startService(join(import.meta.dirname, '../src/main.ts'), { RATE_LIMIT_FACTOR: '0', KAFKA_BROKERS, ...env, ...more });
const signUp = (url: string, email: string) =>
  post(url, { caller, query: SIGN_UP, variables: { input: { email, password: PASSWORD, name: 'Somebody' } } });

/** Runs the migration process and returns its output and exit code. */
const migrate = (more: Record<string, string> = {}) =>
  new Promise<{ code: number; output: string }>((resolve) => {
    const main = join(import.meta.dirname, '../migrations/main.ts');
    execFile(process.execPath, [main], { env: { ...nodeEnvironment(), ...env, ...more } }, (error, out, err) =>
      resolve({ code: error ? Number(error.code) : 0, output: out + err }),
    );
  });

beforeEach(async () => {
  dir = makeTempDir();
  database = await createTestDatabase('auth_process');
  const proxied = await createProxyFor(database.url);
  proxy = proxied.proxy;
  caller = await createCaller(dir);
  env = { POSTGRES_URL: proxied.url, DATA_DIR: dir, IDENTITY_PUBLIC_KEYS_FILE: caller.keysFile };
});

describe('auth as a process', () => {
  it('serves GraphQL to holders of an identity token, its internal functions only to services, and stops cleanly', async () => {
    const auth = start();
    const url = await auth.url();
    const session = sessionOf(await signUp(url, 'ada@example.com'), 'signUp');
    const { identity, sessionId } = session;
    expect((await post(url, { caller, identity, query: ME })).data?.me).toMatchObject({ id: session.userId });
    expect((await post(url, { caller, identity, query: LOGOUT })).data).toEqual({ logout: true });
    const metrics = await (await fetch(`${await auth.adminUrl()}/metrics`)).text();
    expect(metrics).toContain('taskmesh_auth_mutations_total{mutation="logout",outcome="ok",service="auth"} 1');

    const send = (path: string, body: object, authorization?: string) => {
      const headers = { 'content-type': 'application/json', ...(authorization && { authorization }) };
      return fetch(url + path, { method: 'POST', headers, body: JSON.stringify(body) });
    };
    const body = { query: ME, access_token: 'in the body' };
    const foreign = `Bearer ${await caller.signer.tokenFor(identity, 'tasks')}`;
    for (const authorization of [undefined, 'Basic YWRhOnNlY3JldA==', 'Bearer ', 'Bearer nonsense', foreign])
      expect([authorization, (await send('/graphql', body, authorization)).status]).toEqual([authorization, 401]);

    const pool = createServicePool(url);
    const internal = createInternalClient(authInternal, { pool, signer: caller.signer });
    expect(await internal.endedSessions(0)).toMatchObject({ last: 1, sessions: [{ sequence: 1, sessionId }] });
    expect((await internal.accessTokenKeys()).keys).toHaveLength(1);
    const operators = createInternalClient(authOperators, { pool, signer: caller.signer });
    expect(await operators.status()).toMatchObject({ store: { isUp: true, missing: [], unknown: [] } });
    await pool.destroy();
    const userToken = `Bearer ${await caller.signer.tokenFor(identity, 'auth')}`;
    for (const name of ['endedSessions', 'status']) {
      const response = await send(`/internal/${name}`, { args: [0] }, userToken);
      expect(await response.json()).toMatchObject({ error: { code: 'FORBIDDEN' } });
    }
    expect(await auth.stop()).toEqual({ code: 0, signal: null });
  });

  it('waits for a database that starts later, reports SERVICE_UNAVAILABLE during its outage, and continues', async () => {
    await proxy.cut();
    const auth = start();
    await eventually(() => expect(auth.output()).toContain('waiting for the database'), { timeoutMs: 60_000 });
    await proxy.restore();
    const [url, adminUrl] = [await auth.url(), await auth.adminUrl()];
    const { identity } = sessionOf(await signUp(url, 'ada@example.com'), 'signUp');
    const isReady = async () => (await fetch(`${adminUrl}/readyz`)).status;
    expect(await isReady()).toBe(200);

    const pool = createServicePool(url);
    const operators = createInternalClient(authOperators, { pool, signer: caller.signer });
    proxy.freeze();
    // Fast enough for a client that waits a second, so that it can see that the database is unavailable, not auth.
    expect(await operators.status()).toMatchObject({ store: { isUp: false, schema: null } });
    proxy.thaw();
    await eventually(async () => expect(await operators.status()).toMatchObject({ store: { isUp: true } }));
    await proxy.cut();
    expect(await operators.status()).toMatchObject({ store: { isUp: false, schema: null } });
    await pool.destroy();
    const login = { caller, query: LOGIN, variables: { input: { email: 'ada@example.com', password: PASSWORD } } };
    for (const result of [await post(url, login), await post(url, { caller, identity, query: LOGOUT })])
      expect(codeOf(result)).toBe('SERVICE_UNAVAILABLE');
    expect(await isReady()).toBe(503);
    expect(auth.output()).not.toContain(PASSWORD);

    await proxy.restore();
    await eventually(async () => expect(await isReady()).toBe(200));
    expect(codeOf(await post(url, login))).toBeUndefined();
    expect((await post(url, { caller, identity, query: LOGOUT })).data).toEqual({ logout: true });
  });

  it('stays alive, but not ready, until the schema is up to date, if it must not migrate', async () => {
    const auth = start({ MIGRATE_AT_START: 'false' });
    await eventually(() => expect(auth.output()).toContain('it has to be migrated'), { timeoutMs: 60_000 });
    const health = async () => {
      const response = await fetch(`${await auth.adminUrl()}/readyz?verbose`);
      return { ...((await response.json()) as object), status: response.status };
    };
    expect(await health()).toMatchObject({ status: 503, checks: { database: true, schema: false, started: false } });
    expect((await fetch(`${await auth.adminUrl()}/livez`)).status).toBe(200);
    expect(auth.output()).not.toContain('"msg":"listening"');
    expect((await Promise.all([migrate(), migrate()])).map(({ code }) => code)).toEqual([0, 0]);
    await auth.url();
    await eventually(async () => expect(await health()).toMatchObject({ checks: { schema: true } }));
  });

  it('does not migrate the schema of a newer version, or with a server that rejects it or invalid settings', async () => {
    await migrate();
    await database.query(`insert into mikro_orm_migrations (name, executed_at) values ('9999-from-tomorrow', now())`);
    expect(await migrate()).toMatchObject({ code: 1, output: expect.stringContaining('NEWER_SCHEMA=allow') });
    const wrong = new URL(env.POSTGRES_URL ?? '');
    wrong.password = 'wrong-password';
    const refused = await migrate({ POSTGRES_URL: wrong.href });
    expect(refused).toMatchObject({ code: 1, output: expect.stringContaining('POSTGRES_URL') });
    expect(refused.output).not.toContain('wrong-password');
    expect(await migrate({ POSTGRES_URL: 'mysql://x' })).toMatchObject({ code: 1 });
  });
});
