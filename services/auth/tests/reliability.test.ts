import { jest } from '@jest/globals';
import type { SubgraphResult } from '@taskmesh/subgraph';
import { createTestDatabase, eventually } from '@taskmesh/testing';
import { createMemoryKeyValue } from '@taskmesh/key-value';
import { createLog, systemClock } from '@taskmesh/service';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Client } from 'pg';
import { migrations } from '../migrations/index.ts';
import { createAuth, readAuthConfig } from '../src/index.ts';
import {
  CHANGE_NAME,
  codeOf,
  LOGIN,
  LOGOUT,
  loggedIn,
  ME,
  REFRESH,
  sessionOf,
  signedUp,
  SIGN_UP_PLAIN,
} from './support/operations.ts';
import { PASSWORD, runAuth, type RunningAuth } from './support/running-auth.ts';
import { countWaiting } from './support/waiting.ts';

jest.setTimeout(120_000);

describe('connections that are killed under load', () => {
  let running: RunningAuth;
  beforeEach(async () => {
    running = await runAuth({ env: { RATE_LIMIT_FACTOR: '0' } });
  });
  afterEach(() => running.stop());

  it('cost at most a SERVICE_UNAVAILABLE, and nothing that was acknowledged', async () => {
    let done = false;
    const killer = (async () => {
      while (!done) {
        await running.database.query(
          `select pg_terminate_backend(pid) from pg_stat_activity where application_name = 'taskmesh-auth'
           and datname = current_database()`,
        );
        await new Promise((resolve) => setTimeout(resolve, 30));
      }
    })();

    const acknowledged: string[] = [];
    const ended: string[] = [];
    const codes: unknown[] = [];
    const note = (result: SubgraphResult) => {
      codes.push(codeOf(result));
      return result.errors === undefined;
    };
    const person = async (name: string) => {
      const email = `${name}@example.com`;
      const signUp = await running.send(SIGN_UP_PLAIN, { input: { email, password: PASSWORD, name } });
      if (!note(signUp)) return;
      acknowledged.push(email);
      const login = await running.send(LOGIN, { input: { email, password: PASSWORD } });
      if (!note(login)) return;
      const { identity, sessionId, refreshToken } = sessionOf(login, 'login');
      note(await running.send(ME, {}, identity));
      note(await running.send(REFRESH, { token: refreshToken }));
      if (note(await running.send(LOGOUT, {}, identity))) ended.push(sessionId);
    };
    await Promise.all(Array.from({ length: 24 }, (_, index) => person(`p${index}`)));
    done = true;
    await killer;

    expect(new Set(codes.filter((code) => code !== undefined))).toEqual(
      new Set(codes.includes('SERVICE_UNAVAILABLE') ? ['SERVICE_UNAVAILABLE'] : []),
    );
    expect(acknowledged.length).toBeGreaterThan(0);
    for (const email of acknowledged) expect((await loggedIn(running, email)).userId).toBeTruthy();
    const { sessions } = await running.auth.internal.endedSessions(0);
    expect(sessions.map(({ sequence }) => sequence)).toEqual(sessions.map((_session, index) => index + 1));
    expect(sessions.map(({ sessionId }) => sessionId)).toEqual(expect.arrayContaining(ended));
  });

  it('are not noticed by readers', async () => {
    const { identity } = await signedUp(running, 'ada@example.com');
    await running.database.query(
      `select pg_terminate_backend(pid) from pg_stat_activity where application_name = 'taskmesh-auth'`,
    );
    expect(codeOf(await running.send(ME, {}, identity))).toBeUndefined();
  });
});

describe('a database that does not answer', () => {
  it('is unavailable after a while, and leaves nothing behind that hinders later requests', async () => {
    const running = await runAuth({ env: { RATE_LIMIT_FACTOR: '0' } });
    const sessions = [await signedUp(running, 'ada@example.com')];
    while (sessions.length < 15) sessions.push(await loggedIn(running, 'ada@example.com'));
    running.proxy.freeze();
    const logouts = await Promise.all(sessions.map(({ identity }) => running.send(LOGOUT, {}, identity)));
    expect(new Set(logouts.map(codeOf))).toEqual(new Set(['SERVICE_UNAVAILABLE']));
    running.proxy.thaw();
    for (const { refreshToken } of sessions)
      await eventually(async () => {
        const again = await running.send(REFRESH, { token: refreshToken });
        expect([undefined, 'UNAUTHENTICATED']).toContain(codeOf(again)); // some may have ended
      });
    await running.stop();
  });
});

describe('changes that wait for their account', () => {
  it('leave the connections to the logins of others', async () => {
    const running = await runAuth({ env: { RATE_LIMIT_FACTOR: '0' } });
    await signedUp(running, 'other@example.com');
    const busy = await Promise.all(['a', 'b', 'c'].map((name) => signedUp(running, `${name}@example.com`)));
    const locked = running.database.query(
      `with locked as materialized (select id from accounts where email_key <> 'other@example.com' for update)
       select pg_sleep(3) from (select count(*) from locked) as all_of_them`,
    );
    const changes = busy.flatMap(({ identity }) =>
      Array.from({ length: 8 }, (_, index) => running.send(CHANGE_NAME, { name: `name ${index}` }, identity)),
    );
    const waiting = `select from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'`;
    await eventually(async () => expect((await running.database.query(waiting)).length).toBeGreaterThanOrEqual(3));
    const start = performance.now();
    await loggedIn(running, 'other@example.com');
    expect(performance.now() - start).toBeLessThan(1_000);
    await locked;
    for (const change of await Promise.all(changes)) expect(codeOf(change)).toBeUndefined();
    await running.stop();
  });
});

it('lists of one account leave the connections to others', async () => {
  const running = await runAuth({ env: { RATE_LIMIT_FACTOR: '0' } });
  const [ada, bob] = [await signedUp(running, 'ada@example.com'), await signedUp(running, 'bob@example.com')];
  const holder = new Client({ connectionString: running.database.url });
  await holder.connect();
  const tables = 'sessions, personal_tokens, linked_identities, audit_log';
  await holder.query(`begin; lock table ${tables} in access exclusive mode`);
  const lists = ['sessions', 'personalTokens', 'linkedIdentities', 'auditEntries'].flatMap((list) =>
    Array.from({ length: 5 }, () => running.send(`{ ${list} { id } }`, {}, ada.identity)),
  );
  await eventually(async () => expect(await countWaiting(running)).toBeGreaterThan(2));
  const start = performance.now();
  expect(codeOf(await running.send(ME, {}, bob.identity))).toBeUndefined();
  expect(performance.now() - start).toBeLessThan(1_000);
  await holder.query('commit');
  await holder.end();
  for (const list of await Promise.all(lists)) expect(codeOf(list)).toBeUndefined();
  await running.stop();
});

describe('password hashing', () => {
  let running: RunningAuth;
  beforeAll(async () => {
    running = await runAuth({ env: { RATE_LIMIT_FACTOR: '0', HASH_CONCURRENCY: '1' } });
  });
  afterAll(() => running.stop());

  it('refuses what comes when too many wait already, and serves the others', async () => {
    const logins = Array.from({ length: 260 }, (_, index) =>
      running.send(LOGIN, { input: { email: `unknown-${index}@example.com`, password: 'x' } }),
    );
    const codes = (await Promise.all(logins)).map(codeOf);
    expect(codes.filter((code) => code === 'UNAUTHENTICATED').length).toBeGreaterThanOrEqual(201);
    expect(new Set(codes)).toEqual(new Set(['UNAUTHENTICATED', 'SERVICE_UNAVAILABLE']));
  });

  it('leaves the event loop to other requests', async () => {
    const { identity } = await signedUp(running, 'ada@example.com');
    const logins = Array.from({ length: 50 }, () =>
      running.send(LOGIN, { input: { email: 'n@example.com', password: 'x' } }),
    );
    let finished = 0;
    for (const login of logins) void login.then(() => finished++);
    for (let index = 0; index < 20; index++) expect(codeOf(await running.send(ME, {}, identity))).toBeUndefined();
    expect(finished).toBeLessThan(50);
    await Promise.all(logins);
  });
});

describe('starting and stopping', () => {
  it('migrates once, though several instances start at the same time', async () => {
    const database = await createTestDatabase('auth_start');
    const dataDir = await mkdtemp(join(tmpdir(), 'taskmesh-auth-start-'));
    const keyValue = createMemoryKeyValue();
    const config = readAuthConfig({ POSTGRES_URL: database.url, DATA_DIR: dataDir });
    const log = createLog({ service: 'auth', level: 'silent' });
    const instances = await Promise.all(
      Array.from({ length: 3 }, () => createAuth(config, { clock: systemClock, log, keyValue })),
    );
    await Promise.all(instances.map((auth) => auth.start()));
    for (const auth of instances) await eventually(async () => expect(await auth.ready()).toMatchObject({ ok: true }));
    const applied = await database.query('select name from mikro_orm_migrations order by name');
    expect(applied.map(({ name }) => name)).toEqual(migrations.map(({ name }) => name));
    for (const auth of instances) await auth.stop();
    await database.drop();
    await rm(dataDir, { recursive: true });
  });
});
