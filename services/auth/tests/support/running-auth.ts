import type { Identity } from '@taskmesh/identity';
import { createMemoryKeyValue, type KeyValue } from '@taskmesh/key-value';
import { createLog, type Env } from '@taskmesh/service';
import {
  atEnd,
  createProxyFor,
  createTemplate,
  createTestClock,
  createTestDatabase,
  makeTempDir,
} from '@taskmesh/testing';
import type { Registry } from 'prom-client';
import { migrations } from '../../migrations/index.ts';
import { createAuthDatabase } from '../../src/database.ts';
import { createAuth, readAuthConfig, type Auth, type AuthConfig, type Mail } from '../../src/index.ts';
import type { HashCost } from '../../src/passwords/hasher.ts';
import * as operations from './operations.ts';
import { sessionOf, type OpenSession } from './operations.ts';

export const PASSWORD = 'correct horse battery';
const silent = createLog({ service: 'auth', level: 'silent' });
/** The lowest cost that argon2 accepts. */
const CHEAP: HashCost = { memoryCost: 8, timeCost: 1 };
const IP = '192.0.2.1';

export type RunningAuth = Awaited<ReturnType<typeof runAuth>>;
/** Whose operation it is. */
export type Asking = Pick<OpenSession, 'identity'>;

interface RunOptions {
  env?: Env;
  /** Configuration without a setting. */
  config?: Pick<AuthConfig, 'maxSessionsPerAccount'>;
  /** @default the lowest */
  hashCost?: HashCost;
  metrics?: Registry;
}

/** The whole service with its own database, until the end of the test or file; only the clock and the postbox are fakes. */
export async function runAuth({ env = {}, config: unset, hashCost = CHEAP, metrics }: RunOptions = {}) {
  const counters = createCounters();
  const { keyValue } = counters;
  const template = await createTemplate('auth', migrations, (url) => createAuthDatabase({ url, log: silent }));
  const database = await createTestDatabase('auth', undefined, template);
  const { proxy, url } = await createProxyFor(database.url);
  const dataDir = makeTempDir();
  const [clock, monotonicClock] = [createTestClock(), createTestClock()];
  const postbox = createPostbox();
  const running = new Set<Auth>();

  /** Another instance with the same database and files, as after a restart. Shares the counted limits, unless `keyValue` is given. */
  const another = async (more: Env = {}, own: { keyValue: KeyValue } = { keyValue }) => {
    const config = { ...readAuthConfig({ POSTGRES_URL: url, DATA_DIR: dataDir, ...env, ...more }), ...unset };
    const deps = { clock, monotonicClock, log: silent, ...own, hashCost, mailer: postbox, metrics };
    const created = await createAuth(config, deps);
    const stop = async () => {
      running.delete(instance);
      await created.stop();
    };
    const instance: Auth = { ...created, stop };
    await instance.start();
    running.add(instance);
    return instance;
  };
  let auth = await another();

  /** Sends an operation, anonymously unless there is an identity. */
  const send = (query: string, variables: object = {}, identity: Identity = { role: 'anonymous', ip: IP }) =>
    auth.subgraph.execute({ query, variables: { ...variables } }, { identity, requestId: 'request-1' });
  /** Like `logIn`, for logins that may be refused. */
  const tryLogIn = (email: string, password = PASSWORD, identity?: Identity) =>
    send(operations.LOGIN, { input: { email, password } }, identity);
  const requestReset = (email: string) => send(operations.REQUEST_RESET, { email });
  const resetPassword = (token: string, newPassword: string) =>
    send(operations.RESET, { input: { token, newPassword } });
  /** The token that was last mailed to this address. */
  const tokenFor = async (email: string) => {
    await auth.processAll();
    return tokenIn(postbox.mails.findLast(({ to }) => to === email)?.text);
  };
  /** The token of a recovery mail that is requested and sent now. */
  const mailedToken = async (email: string) => {
    await requestReset(email);
    return tokenFor(email);
  };

  const stopAll = async () => {
    for (const each of running) await each.stop();
    await keyValue.close();
  };
  let stopped: Promise<void> | undefined;
  const stop = () => (stopped ??= stopAll());
  atEnd(stop);

  return {
    get auth() {
      return auth;
    },
    database,
    query: database.query,
    /** Sits between auth and its database. */
    proxy,
    dataDir,
    clock,
    monotonicClock,
    postbox,
    another,
    send,
    tryLogIn,
    /** Opens an account. */
    signUp: async (email: string, password = PASSWORD) =>
      sessionOf(await send(operations.SIGN_UP, { input: { email, password, name: 'Somebody' } }), 'signUp'),
    logIn: async (email: string, password = PASSWORD) => sessionOf(await tryLogIn(email, password), 'login'),
    logOut: (identity: Identity) => send(operations.LOGOUT, {}, identity),
    refresh: (token: string, identity?: Identity) => send(operations.REFRESH, { token }, identity),
    me: (identity: Identity) => send(operations.ME, {}, identity),
    changeName: ({ identity }: Asking, name = 'Another') => send(operations.CHANGE_NAME, { name }, identity),
    changePassword: ({ identity }: Asking, newPassword = PASSWORD, currentPassword = PASSWORD) =>
      send(operations.CHANGE_PASSWORD, { input: { currentPassword, newPassword } }, identity),
    requestEmail: ({ identity }: Asking, email: string, password = PASSWORD) =>
      send(operations.CHANGE_EMAIL, { input: { email, password } }, identity),
    confirmEmail: (token: string, password?: string, identity?: Identity) =>
      send(operations.CONFIRM_EMAIL, { token, password }, identity),
    deleteAccount: ({ identity }: Asking, password = PASSWORD) =>
      send(operations.DELETE_ACCOUNT, { input: { password } }, identity),
    /** Makes a personal token, which is valid for a month. */
    createToken({ identity }: Asking, change: object = {}) {
      const expiresAt = new Date(clock.now() + 30 * 86_400_000).toISOString();
      const input = { name: 'program', scope: 'READ', expiresAt, ...change };
      return send(operations.CREATE_TOKEN, { input }, identity);
    },
    endToken: ({ identity }: Asking, id: string) => send(operations.END_TOKEN, { id }, identity),
    requestReset,
    tokenFor,
    mailedToken,
    resetPassword,
    /** Sets the password with a mailed token. */
    resetByMail: async (email: string, newPassword: string) => resetPassword(await mailedToken(email), newPassword),
    /** Prepares the next test: one instance with an empty store, the current time, no mails, and no counted limits. */
    async reset() {
      for (const each of running) if (each !== auth) await each.stop();
      await database.query(EMPTY);
      for (const each of [clock, monotonicClock]) each.reset();
      Object.assign(postbox, { mails: [], failure: undefined });
      counters.reset();
      if (!running.has(auth)) auth = await another();
    },
    stop,
  };
}

/** One service for the tests of a file or group, `reset` before each. Callers are not limited unless `env` sets a limit. */
export function useAuth(options: RunOptions | (() => RunOptions) = {}): RunningAuth {
  const running = {} as RunningAuth; // complete when the tests begin
  beforeAll(async () => {
    const given = typeof options === 'function' ? options() : options;
    const env = { RATE_LIMIT_FACTOR: '0', PUBLIC_URL: 'https://tasks.example/', ...given.env };
    Object.defineProperties(running, Object.getOwnPropertyDescriptors(await runAuth({ ...given, env })));
  });
  beforeEach(() => running.reset());
  return running;
}

/** Deletes all rows that accounts and anonymous callers leave in the store. */
const EMPTY = `
  begin;
  set local taskmesh.audit_housekeeping = 'on';
  delete from accounts; delete from account_mails; delete from recovery_requests; delete from pending_sign_ins;
  delete from sign_in_codes; delete from audit_log; delete from account_log; delete from ended_sessions;
  update ended_session_counter set last = 0;
  update account_log_state set last = 0;
  commit`;

/** A key-value store whose limits can be reset. */
function createCounters() {
  let counted = createMemoryKeyValue();
  const keyValue: KeyValue = {
    ...counted,
    limiter: (options) => ({
      consume: (key) => counted.limiter(options).consume(key),
      peek: (key) => counted.limiter(options).peek(key),
      reset: (key) => counted.limiter(options).reset(key),
    }),
  };
  return { keyValue, reset: () => void (counted = createMemoryKeyValue()) };
}

/** Collects mails instead of sending them. While `failure` is set, they are rejected with it. */
function createPostbox() {
  const postbox = {
    mails: [] as Mail[],
    failure: undefined as Error | undefined,
    async send(mail: Mail) {
      if (postbox.failure) throw postbox.failure;
      postbox.mails.push(mail);
    },
    close: () => Promise.resolve(),
  };
  return postbox;
}

/** The token on its own line in a mail. */
function tokenIn(text: string | undefined): string {
  const [token, ...more] = (text ?? '').split('\n').filter((line) => /^[\w-]{43}$/.test(line));
  if (!token || more.length > 0) throw new Error(`No single token alone on a line in:\n${text}`);
  return token;
}

/** The text of all rows of all tables. */
export async function textOfStore({ database }: RunningAuth): Promise<string> {
  const tables = await database.query(
    `select table_name as name from information_schema.tables where table_schema = 'public' and table_name <> 'mikro_orm_migrations'`,
  );
  const texts = tables.map(({ name }) => database.query(`select json_agg(t)::text as rows from ${String(name)} t`));
  return JSON.stringify(await Promise.all(texts));
}

/** Notes from now on how many rows of the table each committed statement has deleted. */
export async function noteDeletions({ database }: RunningAuth, table: string): Promise<() => Promise<number[]>> {
  await database.query(
    `drop table if exists deletions;
     create table deletions (size integer);
     create or replace function note_deletion() returns trigger language plpgsql as $$
     begin
       insert into deletions select count(*) from gone having count(*) > 0;
       return null;
     end $$;
     create or replace trigger note_deletion after delete on ${table} referencing old table as gone
       for each statement execute function note_deletion()`,
  );
  return async () => (await database.query('select size from deletions')).map(({ size }) => Number(size));
}
