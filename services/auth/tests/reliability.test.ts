import { jest } from '@jest/globals';
import type { SubgraphResult } from '@taskmesh/subgraph';
import { eventually, whileLocked } from '@taskmesh/testing';
import { hashOf } from '../src/opaque-token.ts';
import { COST } from '../src/passwords/hasher.ts';
import { codeOf, sessionOf, SIGN_UP_PLAIN, type OpenSession } from './support/operations.ts';
import { PASSWORD, runAuth, useAuth } from './support/running-auth.ts';

jest.setTimeout(120_000);

const running = useAuth();

it('connections that are killed under load cause at most SERVICE_UNAVAILABLE, and lose nothing acknowledged', async () => {
  let done = false;
  const killer = (async () => {
    while (!done) {
      await running.query(
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
    if (!note(await running.send(SIGN_UP_PLAIN, { input: { email, password: PASSWORD, name } }))) return;
    acknowledged.push(email);
    const login = await running.tryLogIn(email);
    if (!note(login)) return;
    const { identity, sessionId, refreshToken } = sessionOf(login, 'login');
    note(await running.me(identity));
    note(await running.refresh(refreshToken));
    if (note(await running.logOut(identity))) ended.push(sessionId);
  };
  await Promise.all(Array.from({ length: 24 }, (_, index) => person(`p${index}`)));
  done = true;
  await killer;

  expect(codes.filter((code) => code !== undefined && code !== 'SERVICE_UNAVAILABLE')).toEqual([]);
  expect(acknowledged.length).toBeGreaterThan(0);
  for (const email of acknowledged) expect((await running.logIn(email)).userId).toBeTruthy();
  const { sessions } = await running.auth.internal.endedSessions(0);
  expect(sessions.map(({ sequence }) => sequence)).toEqual(sessions.map((_session, index) => index + 1));
  expect(sessions.map(({ sessionId }) => sessionId)).toEqual(expect.arrayContaining(ended));
});

it('a database that does not respond causes SERVICE_UNAVAILABLE after a timeout, without hindering later requests', async () => {
  const sessions = [await running.signUp('ada@example.com')];
  while (sessions.length < 15) sessions.push(await running.logIn('ada@example.com'));
  running.proxy.freeze();
  const logouts = await Promise.all(sessions.map(({ identity }) => running.logOut(identity)));
  expect(new Set(logouts.map(codeOf))).toEqual(new Set(['SERVICE_UNAVAILABLE']));
  running.proxy.thaw();
  for (const { refreshToken } of sessions)
    await eventually(async () => {
      const again = await running.refresh(refreshToken);
      expect([undefined, 'UNAUTHENTICATED']).toContain(codeOf(again)); // some sessions may have ended
    });
});

describe('requests that wait for a lock leave connections for others:', () => {
  const VERIFIER = 'v'.repeat(43);
  const times = <Item>(count: number, make: (index: number) => Item) =>
    Array.from({ length: count }, (_, n) => make(n));
  const BY_CODE = 'mutation ($input: SignInWithCodeInput!) { signInWithCode(input: $input) { accessToken } }';
  const byCode = (index: number) => running.send(BY_CODE, { input: { code: `code-${index}`, verifier: VERIFIER } });
  let bob: OpenSession;
  beforeEach(async () => {
    bob = await running.signUp('bob@example.com');
  });

  interface Waiting {
    /** The code that the requests end with. */
    code?: string;
    waiting?: number;
    other?: () => Promise<SubgraphResult>;
  }

  /** Expects that another request, by default a login, succeeds while those that `ask` sends wait. */
  async function expectRoom(
    held: [string, ...unknown[]],
    ask: () => Promise<SubgraphResult>[],
    { code, other = () => running.tryLogIn('bob@example.com'), ...more }: Waiting = {},
  ) {
    const meanwhile = async () => expect(codeOf(await other())).toBeUndefined();
    const answers = await whileLocked(running.database, held, () => Promise.all(ask()), { ...more, meanwhile });
    for (const answer of answers) expect(codeOf(answer)).toBe(code);
  }

  it('changes of accounts', async () => {
    const busy = await Promise.all(['a', 'b', 'c'].map((name) => running.signUp(`${name}@example.com`)));
    const change = () => busy.flatMap((user) => times(8, (n) => running.changeName(user, `name ${n}`)));
    await expectRoom([`select from accounts where email_key <> 'bob@example.com' for update`], change, { waiting: 3 });
  });

  it.each([
    ['with a password', () => running.tryLogIn('ada@example.com')],
    ['at a provider', byCode],
  ])('sign-ins %s', async (_how, signIn) => {
    await running.signUp('ada@example.com');
    await running.query(
      `insert into linked_identities (id, account_id, issuer, subject, email, created_at, last_used_at)
       select gen_random_uuid(), id, 'issuer', 'subject', email, now(), now() from accounts where email_key like 'ada%'`,
    );
    await running.query(
      `insert into sign_in_codes (hash, challenge, issuer, subject, email_verified, created_at, expires_at)
       select unnest($1::text[]), $2, 'issuer', 'subject', true, now(), now() + interval '1 hour'`,
      [times(15, (n) => hashOf(`code-${n}`)), hashOf(VERIFIER)],
    );
    await expectRoom([`select from accounts where email_key = 'ada@example.com' for update`], () => times(15, signIn));
  });

  it('refreshes of one session', async () => {
    const { refreshToken, sessionId } = await running.signUp('ada@example.com');
    const forged = refreshToken.slice(0, -24) + 'x'.repeat(24);
    const ofOneSite = (network: number) => ({ role: 'anonymous', ip: `2001:db8:1:${network}::1` }) as const;
    const refresh = () => times(15, (network) => running.refresh(forged, ofOneSite(network)));
    const held: [string, string] = ['select from sessions where id = $1 for update', sessionId];
    await expectRoom(held, refresh, { code: 'UNAUTHENTICATED' });
    expect(codeOf(await running.refresh(refreshToken))).toBeUndefined();
  });

  it('attempts with mailed tokens', async () => {
    const token = 't'.repeat(43);
    const attempts = () => [
      ...times(15, () => running.resetPassword(token, 'another long phrase')),
      ...times(15, () => running.confirmEmail(token, PASSWORD)),
    ];
    const held: [string] = ['lock table reset_tokens, email_tokens in access exclusive mode'];
    await expectRoom(held, attempts, { code: 'BAD_USER_INPUT' });
  });

  it('deletions of accounts', async () => {
    const users = await Promise.all(times(15, (n) => running.signUp(`user-${n}@example.com`)));
    const remove = () => users.map((user) => running.deleteAccount(user));
    await expectRoom(['select from account_log_state for update'], remove);
  });

  it('lists of one account', async () => {
    const { identity } = await running.signUp('ada@example.com');
    const tables = 'sessions, personal_tokens, linked_identities, audit_log';
    const lists = ['sessions', 'personalTokens', 'linkedIdentities', 'auditEntries'];
    const listed = (list: string) => times(5, () => running.send(`{ ${list} { id } }`, {}, identity));
    const ask = () => lists.flatMap(listed);
    const other = () => running.me(bob.identity);
    await expectRoom([`lock table ${tables} in access exclusive mode`], ask, { waiting: 3, other });
  });
});

it('password hashing does not block the event loop for other requests', async () => {
  const hashing = await runAuth({ env: { RATE_LIMIT_FACTOR: '0', HASH_CONCURRENCY: '1' }, hashCost: COST });
  const { identity } = await hashing.signUp('ada@example.com');
  const logins = Array.from({ length: 50 }, () => hashing.tryLogIn('n@example.com', 'x'));
  let finished = 0;
  for (const login of logins) void login.then(() => finished++);
  for (let index = 0; index < 20; index++) expect(codeOf(await hashing.me(identity))).toBeUndefined();
  expect(finished).toBeLessThan(50);
  await Promise.all(logins);
});
