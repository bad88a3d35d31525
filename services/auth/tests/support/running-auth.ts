import type { Identity } from '@taskmesh/identity';
import { createMemoryKeyValue, type KeyValue } from '@taskmesh/key-value';
import { createLog, type Env } from '@taskmesh/service';
import type { SubgraphResult } from '@taskmesh/subgraph';
import {
  atEnd,
  createProxyFor,
  createTestClock,
  createTemplate,
  createTestDatabase,
  makeTempDir,
  type FaultyProxy,
  type TestClock,
  type TestDatabase,
} from '@taskmesh/testing';
import type { Registry } from 'prom-client';
import { migrations } from '../../migrations/index.ts';
import { createAuthDatabase } from '../../src/database.ts';
import { createAuth, readAuthConfig, type Auth, type AuthConfig, type Mail, type Mailer } from '../../src/index.ts';
import type { HashCost } from '../../src/passwords/hasher.ts';
import {
  LOGIN,
  LOGOUT,
  ME,
  REFRESH,
  REQUEST_RESET,
  RESET,
  sessionOf,
  SIGN_UP,
  type OpenSession,
} from './operations.ts';

export const PASSWORD = 'correct horse battery';
const silent = createLog({ service: 'auth', level: 'silent' });
/** The lowest cost that argon2 accepts. */
const CHEAP: HashCost = { memoryCost: 8, timeCost: 1 };
const IP = '192.0.2.1';

/** Collects mails instead of sending them. */
export interface Postbox extends Mailer {
  mails: Mail[];
  /** While set, mails are rejected with this error. */
  failure: Error | undefined;
}

export interface RunningAuth {
  readonly auth: Auth;
  database: TestDatabase;
  /** Sits between auth and its database. */
  proxy: FaultyProxy;
  dataDir: string;
  clock: TestClock;
  monotonicClock: TestClock;
  postbox: Postbox;
  /** Sends an operation, anonymously unless there is an identity. */
  send(query: string, variables?: object, identity?: Identity): Promise<SubgraphResult>;
  /** Opens an account. */
  signUp(email: string, password?: string): Promise<OpenSession>;
  logIn(email: string, password?: string): Promise<OpenSession>;
  /** Like `logIn`, for logins that may be refused. */
  tryLogIn(email: string, password?: string): Promise<SubgraphResult>;
  logOut(identity: Identity): Promise<SubgraphResult>;
  refresh(token: string, identity?: Identity): Promise<SubgraphResult>;
  me(identity: Identity): Promise<SubgraphResult>;
  requestReset(email: string): Promise<SubgraphResult>;
  /** The token of a recovery mail that is requested and sent now. */
  mailedToken(email: string): Promise<string>;
  resetPassword(token: string, newPassword: string): Promise<SubgraphResult>;
  /** Sets the password with a mailed token. */
  resetByMail(email: string, newPassword: string): Promise<SubgraphResult>;
  /** Another instance with the same database and files, as after a restart. Shares the counted limits, unless `keyValue` is given. */
  another(env?: Env, own?: { keyValue: KeyValue }): Promise<Auth>;
  /** Prepares the next test: one instance with an empty store, the current time, no mails, and no counted limits. */
  reset(): Promise<void>;
  stop(): Promise<void>;
}

export interface RunOptions {
  env?: Env;
  /** Configuration without a setting. */
  config?: Pick<AuthConfig, 'maxSessionsPerAccount'>;
  /** @default the lowest */
  hashCost?: HashCost;
  metrics?: Registry;
}

/** The whole service with its own database, until the end of the test or file; only the clock and the postbox are fakes. */
export async function runAuth(options: RunOptions = {}): Promise<RunningAuth> {
  const { env = {}, hashCost = CHEAP } = options;
  const counters = createCounters();
  const { keyValue } = counters;
  const template = await createTemplate('auth', migrations, (url) => createAuthDatabase({ url, log: silent }));
  const database = await createTestDatabase('auth', undefined, template);
  const { proxy, url } = await createProxyFor(database.url);
  const dataDir = makeTempDir();
  const [clock, monotonicClock] = [createTestClock(), createTestClock()];
  const postbox = createPostbox();
  const running = new Set<Auth>();

  const another = async (more: Env = {}, own = { keyValue }) => {
    const config = {
      ...readAuthConfig({ POSTGRES_URL: url, DATA_DIR: dataDir, ...env, ...more }),
      ...options.config,
    };
    const created = await createAuth(config, {
      ...{ clock, monotonicClock, log: silent, ...own, hashCost, mailer: postbox },
      ...(options.metrics && { metrics: options.metrics }),
    });
    const auth: Auth = {
      ...created,
      async stop() {
        running.delete(auth);
        await created.stop();
      },
    };
    await auth.start();
    running.add(auth);
    return auth;
  };
  let auth = await another();
  const requestReset = (email: string) => send(auth, REQUEST_RESET, { email });
  const mailedToken = async (email: string) => {
    await requestReset(email);
    await auth.processAll();
    return tokenIn(postbox.mails.findLast(({ to }) => to === email)?.text);
  };
  const resetPassword = (token: string, newPassword: string) => send(auth, RESET, { input: { token, newPassword } });

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
    proxy,
    dataDir,
    clock,
    monotonicClock,
    postbox,
    another,
    send: (query, variables, identity) => send(auth, query, variables, identity),
    signUp: async (email, password = PASSWORD) =>
      sessionOf(await send(auth, SIGN_UP, { input: { email, password, name: 'Somebody' } }), 'signUp'),
    logIn: async (email, password = PASSWORD) =>
      sessionOf(await send(auth, LOGIN, { input: { email, password } }), 'login'),
    tryLogIn: (email, password = PASSWORD) => send(auth, LOGIN, { input: { email, password } }),
    logOut: (identity) => send(auth, LOGOUT, {}, identity),
    refresh: (token, identity) => send(auth, REFRESH, { token }, identity),
    me: (identity) => send(auth, ME, {}, identity),
    ...{ requestReset, mailedToken, resetPassword },
    resetByMail: async (email, newPassword) => resetPassword(await mailedToken(email), newPassword),
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

function send(auth: Auth, query: string, variables: object = {}, identity: Identity = { role: 'anonymous', ip: IP }) {
  return auth.subgraph.execute({ query, variables: { ...variables } }, { identity, requestId: 'request-1' });
}

function createPostbox(): Postbox {
  const postbox: Postbox = {
    mails: [],
    failure: undefined,
    async send(mail) {
      if (postbox.failure) throw postbox.failure;
      postbox.mails.push(mail);
    },
    close: () => Promise.resolve(),
  };
  return postbox;
}

/** The token on its own line in a mail. */
export function tokenIn(text: string | undefined): string {
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
