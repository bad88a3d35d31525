import { jest } from '@jest/globals';
import type { SubgraphResult } from '@taskmesh/subgraph';
import { eventually, whileLocked } from '@taskmesh/testing';
import { createHash } from 'node:crypto';
import { COST } from '../src/passwords/hasher.ts';
import {
  CHANGE_NAME,
  codeOf,
  CONFIRM_EMAIL,
  DELETE_ACCOUNT,
  LOGIN,
  RESET,
  sessionOf,
  SIGN_UP_PLAIN,
} from './support/operations.ts';
import { PASSWORD, runAuth, useAuth, type RunningAuth } from './support/running-auth.ts';

jest.setTimeout(120_000);

const running = useAuth();

describe('connections that are killed under load', () => {
  it('cause at most SERVICE_UNAVAILABLE, and lose nothing acknowledged', async () => {
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

    expect(new Set(codes.filter((code) => code !== undefined))).toEqual(
      new Set(codes.includes('SERVICE_UNAVAILABLE') ? ['SERVICE_UNAVAILABLE'] : []),
    );
    expect(acknowledged.length).toBeGreaterThan(0);
    for (const email of acknowledged) expect((await running.logIn(email)).userId).toBeTruthy();
    const { sessions } = await running.auth.internal.endedSessions(0);
    expect(sessions.map(({ sequence }) => sequence)).toEqual(sessions.map((_session, index) => index + 1));
    expect(sessions.map(({ sessionId }) => sessionId)).toEqual(expect.arrayContaining(ended));
  });

  it('do not affect readers', async () => {
    const { identity } = await running.signUp('ada@example.com');
    await running.database.query(
      `select pg_terminate_backend(pid) from pg_stat_activity where application_name = 'taskmesh-auth'`,
    );
    expect(codeOf(await running.me(identity))).toBeUndefined();
  });
});

describe('a database that does not respond', () => {
  it('causes SERVICE_UNAVAILABLE after a timeout, without hindering later requests', async () => {
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
});

describe('changes that wait for an account', () => {
  it('leave connections for the logins of others', async () => {
    await running.signUp('other@example.com');
    const busy = await Promise.all(['a', 'b', 'c'].map((name) => running.signUp(`${name}@example.com`)));
    const held = `select from accounts where email_key <> 'other@example.com' for update`;
    const change = () =>
      Promise.all(
        busy.flatMap(({ identity }) =>
          Array.from({ length: 8 }, (_, index) => running.send(CHANGE_NAME, { name: `name ${index}` }, identity)),
        ),
      );
    const changes = await whileLocked(running.database, [held], change, {
      waiting: 3,
      async meanwhile() {
        await running.logIn('other@example.com');
      },
    });
    for (const change of changes) expect(codeOf(change)).toBeUndefined();
  });
});

describe('sign-ins that wait for an account leave connections for others:', () => {
  const VERIFIER = 'v'.repeat(43);
  const hashOf = (text: string) => createHash('sha256').update(text).digest('base64url');
  const login = (name: string) => running.send(LOGIN, { input: { email: `${name}@example.com`, password: PASSWORD } });
  const byCode = (index: number) =>
    running.send('mutation ($input: SignInWithCodeInput!) { signInWithCode(input: $input) { accessToken } }', {
      input: { code: `code-${index}`, verifier: VERIFIER },
    });

  it.each([
    ['with a password', () => login('ada')],
    ['at a provider', byCode],
  ])('%s', async (_how, signIn) => {
    for (const name of ['ada', 'bob']) await running.signUp(`${name}@example.com`);
    await running.database.query(
      `insert into linked_identities (id, account_id, issuer, subject, email, created_at, last_used_at)
       select gen_random_uuid(), id, 'issuer', 'subject', email, now(), now() from accounts where email_key like 'ada%'`,
    );
    for (let index = 0; index < 15; index++)
      await running.database.query(
        `insert into sign_in_codes (hash, challenge, issuer, subject, email_verified, created_at, expires_at)
         values ($1, $2, 'issuer', 'subject', true, now(), now() + interval '1 hour')`,
        [hashOf(`code-${index}`), hashOf(VERIFIER)],
      );
    const held = `select from accounts where email_key = 'ada@example.com' for update`;
    const ask = () => Promise.all(Array.from({ length: 15 }, (_, index) => signIn(index)));
    const answers = await whileLocked(running.database, [held], ask, {
      async meanwhile() {
        expect(codeOf(await login('bob'))).toBeUndefined();
      },
    });
    for (const answer of answers) expect(codeOf(answer)).toBeUndefined();
  });
});

describe('requests that wait for one row leave connections for others:', () => {
  const loginOfBob = {
    async meanwhile() {
      await running.logIn('bob@example.com');
    },
  };

  it('refreshes of one session', async () => {
    const [ada] = [await running.signUp('ada@example.com'), await running.signUp('bob@example.com')];
    const forged = ada.refreshToken.slice(0, -24) + 'x'.repeat(24);
    const networks = Array.from({ length: 15 }, (_, index) => `2001:db8:1:${index}::1`); // of one site
    const refresh = () => Promise.all(networks.map((ip) => running.refresh(forged, { role: 'anonymous', ip })));
    const held: [string, ...unknown[]] = ['select from sessions where id = $1 for update', ada.sessionId];
    for (const answer of await whileLocked(running.database, held, refresh, loginOfBob))
      expect(codeOf(answer)).toBe('UNAUTHENTICATED');
    expect(codeOf(await running.refresh(ada.refreshToken))).toBeUndefined();
  });

  it('attempts with mailed tokens', async () => {
    await running.signUp('bob@example.com');
    const input = { token: 't'.repeat(43), newPassword: 'another long phrase' };
    const attempts = Array.from({ length: 15 }, () => [
      () => running.send(RESET, { input }),
      () => running.send(CONFIRM_EMAIL, { token: input.token, password: PASSWORD }),
    ]).flat();
    const held: [string] = ['lock table reset_tokens, email_tokens in access exclusive mode'];
    const answers = await whileLocked(
      running.database,
      held,
      () => Promise.all(attempts.map((attempt) => attempt())),
      loginOfBob,
    );
    for (const answer of answers) expect(codeOf(answer)).toBe('BAD_USER_INPUT');
  });

  it('deletions of accounts', async () => {
    await running.signUp('bob@example.com');
    const names = Array.from({ length: 15 }, (_, index) => `user-${index}@example.com`);
    const users = await Promise.all(names.map((email) => running.signUp(email)));
    const remove = () =>
      Promise.all(
        users.map(({ identity }) => running.send(DELETE_ACCOUNT, { input: { password: PASSWORD } }, identity)),
      );
    const held: [string] = ['select from account_log_state for update'];
    for (const answer of await whileLocked(running.database, held, remove, loginOfBob))
      expect(codeOf(answer)).toBeUndefined();
  });
});

it('lists of one account leave connections for others', async () => {
  const [ada, bob] = [await running.signUp('ada@example.com'), await running.signUp('bob@example.com')];
  const tables = 'sessions, personal_tokens, linked_identities, audit_log';
  const lists = ['sessions', 'personalTokens', 'linkedIdentities', 'auditEntries'].flatMap((list) =>
    Array.from({ length: 5 }, () => `{ ${list} { id } }`),
  );
  const ask = () => Promise.all(lists.map((list) => running.send(list, {}, ada.identity)));
  const answers = await whileLocked(running.database, [`lock table ${tables} in access exclusive mode`], ask, {
    waiting: 3,
    async meanwhile() {
      expect(codeOf(await running.me(bob.identity))).toBeUndefined();
    },
  });
  for (const answer of answers) expect(codeOf(answer)).toBeUndefined();
});

describe('password hashing', () => {
  let hashing: RunningAuth;
  beforeAll(async () => {
    hashing = await runAuth({ env: { RATE_LIMIT_FACTOR: '0', HASH_CONCURRENCY: '1' }, hashCost: COST });
  });

  it('does not block the event loop for other requests', async () => {
    const { identity } = await hashing.signUp('ada@example.com');
    const logins = Array.from({ length: 50 }, () => hashing.tryLogIn('n@example.com', 'x'));
    let finished = 0;
    for (const login of logins) void login.then(() => finished++);
    for (let index = 0; index < 20; index++) expect(codeOf(await hashing.me(identity))).toBeUndefined();
    expect(finished).toBeLessThan(50);
    await Promise.all(logins);
  });
});
