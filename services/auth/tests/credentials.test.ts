import { whileLocked } from '@taskmesh/testing';
import { codeOf, outcomesOf, type OpenSession } from './support/operations.ts';
import { PASSWORD, useAuth } from './support/running-auth.ts';
import type { Issue } from '@taskmesh/contracts';
import type { Identity } from '@taskmesh/identity';
import type { SubgraphResult } from '@taskmesh/subgraph';
import { dummyHash } from '../src/passwords/hasher.ts';

const MINUTE_MS = 60_000;
const NEW_PASSWORD = 'another horse battery';

const running = useAuth();

describe('changing the password', () => {
  it('succeeds once in many concurrent attempts', async () => {
    const ada = await running.signUp('ada@example.com');
    const passwords = Array.from({ length: 5 }, (_, number) => `${NEW_PASSWORD} ${number}`);
    const results = await Promise.all(passwords.map((password) => running.changePassword(ada, password)));
    const won = passwords.filter((_password, index) => !results[index]?.errors);
    expect(won).toHaveLength(1);
    const logins = await Promise.all(passwords.map((password) => running.tryLogIn('ada@example.com', password)));
    expect(logins.map(codeOf)).toEqual(passwords.map((each) => (each === won[0] ? undefined : 'UNAUTHENTICATED')));
  });

  it('invalidates a recovery mail that was already sent', async () => {
    const ada = await running.signUp('ada@example.com');
    const token = await running.mailedToken('ada@example.com');
    await running.changePassword(ada, NEW_PASSWORD);
    expect(codeOf(await running.resetPassword(token, 'a third horse battery'))).toBe('BAD_USER_INPUT');
  });

  it('is reported by mail, even after mails of kinds that only a newer version knows, which it skips', async () => {
    const ada = await running.signUp('ada@example.com');
    await running.query(
      `insert into account_mails (id, account_id, kind, recipient, request_id, created_at, next_attempt_at)
       select gen_random_uuid(), $1, 'kind.of.tomorrow', 'ada@example.com', 'request-1', to_timestamp(0), to_timestamp(n)
       from generate_series(1, 3) n`,
      [ada.userId],
    );
    await running.changePassword(ada, NEW_PASSWORD);
    await running.auth.processAll();
    expect(running.postbox.mails.map(({ subject }) => subject)).toEqual(['Your Taskmesh password was changed']);
    const left =
      'select kind, attempts, next_attempt_at = to_timestamp(1) as first from account_mails order by next_attempt_at';
    const skipped = { kind: 'kind.of.tomorrow', attempts: 0 };
    expect(await running.query(left)).toEqual([true, false, false].map((first) => ({ ...skipped, first })));
  });

  it('is reported at most twenty times an hour, as the address of a new account is not confirmed', async () => {
    const ada = await running.signUp('victim@example.com');
    for (let count = 0; count < 10; count++) await running.changePassword(ada);
    running.postbox.failure = new Error('connect ECONNREFUSED');
    await running.auth.processAll();
    running.postbox.failure = undefined;
    running.clock.advance(10_000);
    for (let count = 0; count < 12; count++) expect((await running.changePassword(ada)).errors).toBeUndefined();
    await running.auth.processAll();
    expect(running.postbox.mails).toHaveLength(20);
  });
});

const reset = (token: string, newPassword = NEW_PASSWORD) => running.resetPassword(token, newPassword);

describe('requesting a recovery mail', () => {
  it('responds and stores the same for an unknown address, but sends nothing', async () => {
    await running.signUp('ada@example.com');
    running.postbox.failure = new Error('later');
    const answers = [await running.requestReset('ada@example.com'), await running.requestReset('unknown@example.com')];
    expect(answers).toEqual(Array(2).fill({ data: { requestPasswordReset: true } }));
    await running.auth.processAll();
    const rows = await running.query('select email_key from recovery_requests');
    expect(rows).toEqual([{ email_key: 'ada@example.com' }]); // waits for its next attempt; the other row is deleted
    expect(running.postbox.mails).toEqual([]);
  });

  it('retries with growing pauses while the mail server is unavailable, even after a restart', async () => {
    await running.signUp('ada@example.com');
    running.postbox.failure = new Error('connect ECONNREFUSED');
    await running.requestReset('ada@example.com');
    await running.auth.processAll();
    running.clock.advance(1_500);
    await running.auth.processAll();
    const [waiting] = await running.query('select attempts, next_attempt_at from recovery_requests');
    expect(waiting?.attempts).toBe(2);
    expect(Number(waiting?.next_attempt_at) - running.clock.now()).toBeGreaterThan(1_000);

    await running.auth.stop();
    running.postbox.failure = undefined;
    const restarted = await running.another();
    running.clock.advance(2_500);
    await restarted.processAll();
    expect(running.postbox.mails).toHaveLength(1);
    expect(await running.query('select 1 from recovery_requests')).toEqual([]);
  });

  it('sends each mail once with two instances', async () => {
    const other = await running.another();
    const addresses = ['a', 'b', 'c', 'd', 'e'].map((name) => `${name}@example.com`);
    for (const email of addresses) {
      await running.signUp(email);
      await running.requestReset(email);
    }
    await Promise.all([running.auth.processAll(), other.processAll()]);
    expect(running.postbox.mails.map(({ to }) => to).toSorted()).toEqual(addresses);
  });
});

describe('setting a new password', () => {
  it("accepts a token once, even in parallel requests; a rejected password, like the account's address, does not use it up", async () => {
    await running.signUp('ada@example.com');
    const token = await running.mailedToken('ada@example.com');
    const refused = await reset(token, 'Ada@Example.com');
    const issues = [expect.objectContaining({ path: 'newPassword' })];
    expect(refused.errors?.[0]?.extensions).toMatchObject({ code: 'BAD_USER_INPUT', issues });
    const attempts = ['first new one', 'second new one'].map((password) => reset(token, password));
    expect(await outcomesOf(attempts)).toEqual({ ok: 1, BAD_USER_INPUT: 1 });
    expect(codeOf(await reset(token))).toBe('BAD_USER_INPUT');
  });

  it('rejects a token after 30 minutes, and one that never existed', async () => {
    await running.signUp('ada@example.com');
    const token = await running.mailedToken('ada@example.com');
    running.clock.advance(30 * MINUTE_MS + 1_000);
    for (const unusable of [token, 'x'.repeat(43), '', '\0', '\ud800']) {
      const { errors } = await reset(unusable);
      expect(errors?.[0]?.extensions).toMatchObject({ code: 'BAD_USER_INPUT', issues: [{ path: 'token' }] });
    }
  });

  it('leaves no session open that was opened concurrently with the old password', async () => {
    const { userId } = await running.signUp('ada@example.com');
    const token = await running.mailedToken('ada@example.com');
    const logins = Array.from({ length: 12 }, () => running.tryLogIn('ada@example.com'));
    const results = await Promise.all([...logins.slice(0, 6), reset(token), ...logins.slice(6)]);
    expect(results[6]?.data).toEqual({ resetPassword: true });
    const open = 'select 1 from sessions where account_id = $1 and ended_at is null';
    expect(await running.query(open, [userId])).toEqual([]);
  });
});

const HOUR_MS = 3_600_000;

/** Confirms without a session and with the password, by default. */
const confirm = (token: string, by: { password?: string; identity?: Identity } = { password: PASSWORD }) =>
  running.confirmEmail(token, by.password, by.identity);
const pathOf = ({ errors }: SubgraphResult) => {
  const [issue] = (errors?.[0]?.extensions?.issues ?? []) as Issue[];
  return issue?.path;
};
const emailOf = async ({ identity }: OpenSession) => ((await running.me(identity)).data?.me as { email: string }).email;

async function mails() {
  await running.auth.processAll();
  return running.postbox.mails;
}

/** Removes the account's password, as if a sign-in through a provider had opened it. */
const takePassword = ({ userId }: OpenSession) =>
  running.query('update accounts set has_password = false, password_hash = $2 where id = $1', [userId, dummyHash()]);

/** An account that requests another address, and the token that is mailed there. */
async function requested(email = 'new@example.com') {
  const ada = await running.signUp('ada@example.com');
  await running.requestEmail(ada, email);
  return { ada, token: await running.tokenFor(email) };
}

it('changing the address accepts another spelling of the same address, but not the identical one', async () => {
  const ada = await running.signUp('ada@example.com');
  await running.requestEmail(ada, 'Ada@Example.com');
  await confirm(await running.tokenFor('Ada@Example.com'));
  expect(await emailOf(ada)).toBe('Ada@Example.com');
  expect(codeOf(await running.requestEmail(ada, 'Ada@Example.com'))).toBe('BAD_USER_INPUT');
});

describe('a confirmation mail that reaches a stranger through a mistyped address', () => {
  it('does not let the stranger take over the account by address or by password', async () => {
    const { ada, token } = await requested('stranger@example.com');
    const stranger = await running.signUp('stranger@elsewhere.example', 'the password of a stranger');
    for (const [by, code] of [
      [{}, 'UNAUTHENTICATED'],
      [{ password: '' }, 'UNAUTHENTICATED'],
      [{ password: 'a guess' }, 'BAD_USER_INPUT'],
      [{ password: 'the password of a stranger' }, 'BAD_USER_INPUT'],
      [{ identity: stranger.identity }, 'FORBIDDEN'],
      [{ identity: stranger.identity, password: 'the password of a stranger' }, 'BAD_USER_INPUT'],
    ] as const)
      expect([by, codeOf(await confirm(token, by))]).toEqual([by, code]);
    await running.requestReset('stranger@example.com');
    expect((await mails()).map(({ to }) => to)).toEqual(['stranger@example.com']);
    expect(await emailOf(ada)).toBe('ada@example.com');
    await running.logIn('ada@example.com');
  });

  it('reveals nothing about the account, not even that it has no password', async () => {
    const answers = [];
    for (const hasPassword of [true, false]) {
      const ada = await running.signUp(`ada.${hasPassword}@example.com`);
      await running.requestEmail(ada, 'stranger@example.com');
      const token = await running.tokenFor('stranger@example.com');
      if (!hasPassword) await takePassword(ada);
      const answer = await confirm(token, { password: 'a guess' });
      expect(pathOf(answer)).toBe('password');
      expect(JSON.stringify(answer)).not.toContain('ada');
      answers.push(answer);
    }
    expect(answers[0]).toEqual(answers[1]);
  });

  it("limits password guesses like logins, and records each one in the account's trail", async () => {
    const { ada, token } = await requested('stranger@example.com');
    for (let guess = 1; guess <= 10; guess++)
      expect(pathOf(await confirm(token, { password: `guess ${guess}` }))).toBe('password');
    expect(codeOf(await confirm(token))).toBe('RATE_LIMITED');
    expect(codeOf(await running.tryLogIn('ada@example.com'))).toBe('RATE_LIMITED');
    const failed = `select 1 from audit_log where kind = 'login.failed' and account_id = $1`;
    expect(await running.query(failed, [ada.userId])).toHaveLength(10);
    expect((await confirm(token, ada)).data).toEqual({ confirmEmailChange: true });
  });
});

it('the owner of an account without a password must confirm with a session', async () => {
  const { ada, token } = await requested();
  await takePassword(ada);
  expect(pathOf(await confirm(token))).toBe('password');
  expect((await confirm(token, ada)).data).toEqual({ confirmEmailChange: true });
});

describe('a token for a new address', () => {
  it('works once, even in many concurrent attempts', async () => {
    const { token } = await requested();
    expect(await outcomesOf(Array.from({ length: 8 }, () => confirm(token)))).toEqual({ ok: 1, BAD_USER_INPUT: 7 });
    expect((await mails()).filter(({ to }) => to === 'ada@example.com')).toHaveLength(1);
  });

  it('is rejected after an hour and then deleted, like those that never existed', async () => {
    const { token } = await requested();
    running.clock.advance(HOUR_MS + 1_000);
    for (const unusable of [token, '', 'nonsense', '\0', '\ud800', 'x'.repeat(2_000), "' or true --"])
      expect(pathOf(await confirm(unusable))).toBe('token');
    await running.auth.processAll();
    expect(await running.query('select 1 from email_tokens')).toEqual([]);
  });

  it.each<[string, (ada: OpenSession) => Promise<SubgraphResult>]>([
    ['another address', (ada) => running.requestEmail(ada, 'third@example.com')],
    ['another password', (ada) => running.changePassword(ada, NEW_PASSWORD)],
    ['a password that was set by mail', () => running.resetByMail('ada@example.com', NEW_PASSWORD)],
  ])('is invalid after %s', async (_what, end) => {
    const { ada, token } = await requested();
    expect(codeOf(await end(ada))).toBeUndefined();
    expect(pathOf(await confirm(token))).toBe('token');
  });

  it('invalidates recovery mails to the former address', async () => {
    const ada = await running.signUp('ada@example.com');
    const reset = await running.mailedToken('ada@example.com');
    await running.requestEmail(ada, 'new@example.com');
    await confirm(await running.tokenFor('new@example.com'));
    expect(codeOf(await running.resetPassword(reset, NEW_PASSWORD))).toBe('BAD_USER_INPUT');
  });
});

it('an address that is taken can be requested like any other, and only its owner learns of it', async () => {
  const ada = await running.signUp('ada@example.com');
  await running.signUp('Bob@example.com');
  for (const address of ['free@example.com', 'bob@EXAMPLE.com'])
    expect(await running.requestEmail(ada, address)).toEqual({ data: { requestEmailChange: true } });
  const [mail, ...more] = (await mails()).filter(({ to }) => to !== 'free@example.com');
  expect([mail?.to, more]).toEqual(['Bob@example.com', []]);
  expect(mail?.text).not.toMatch(/[\w-]{43}|#token|ada@example/);
  expect(await running.query('select 1 from email_tokens')).toEqual([]);
});

it('an address that is taken goes to one of two accounts that confirm it concurrently', async () => {
  const [ada, bob] = [await running.signUp('ada@example.com'), await running.signUp('bob@example.com')];
  const tokens = [];
  for (const each of [ada, bob]) {
    await running.requestEmail(each, 'new@example.com');
    tokens.push(await running.tokenFor('new@example.com'));
  }
  const codes = await Promise.all(tokens.map(async (token) => codeOf(await confirm(token))));
  expect(codes.toSorted()).toEqual(['CONFLICT', undefined]);
});

it('requesting another address silently limits mails to one address to five an hour, of all callers; the last token stays valid, and recovery mails are not counted', async () => {
  await running.signUp('victim@example.com');
  const [ada, bob] = [await running.signUp('ada@example.com'), await running.signUp('bob@example.com')];
  for (const address of ['victim@example.com', 'new@example.com']) {
    for (const each of [bob, ada, bob, ada, bob, ada, ada]) {
      expect(codeOf(await running.requestEmail(each, address))).toBeUndefined();
      await running.auth.processAll();
    }
    expect(running.postbox.mails.filter(({ to }) => to === address)).toHaveLength(5);
  }
  expect((await confirm(await running.tokenFor('new@example.com'))).data).toEqual({ confirmEmailChange: true });
  await running.requestReset('victim@example.com');
  const toVictim = (await mails()).filter(({ to }) => to === 'victim@example.com');
  expect(toVictim.at(-1)?.subject).toBe('Set a new Taskmesh password');
});

it('requesting another address locks the account before its mail, like every change, so that they do not deadlock', async () => {
  const ada = await running.signUp('ada@example.com');
  running.postbox.failure = new Error('away');
  await running.requestEmail(ada, 'new@example.com');
  await running.auth.processAll();
  running.postbox.failure = undefined;
  running.clock.advance(HOUR_MS / 2);
  await whileLocked(running.database, ['select 1 from accounts for update'], () => running.auth.processAll(), {
    meanwhile: async () =>
      expect(await running.query('select id from account_mails for update skip locked')).toHaveLength(1),
  });
  expect(running.postbox.mails).toHaveLength(1);
});

it.each([
  ['a change of the password', 'select from accounts for update', 'delete from recovery_requests'],
  ['another address', `update accounts set email = 'new@example.com', email_key = 'new@example.com'`, 'select'],
])('a recovery mail in progress is cancelled by %s', async (_what, locking, change) => {
  await running.signUp('ada@example.com');
  const send = async () => {
    await running.requestReset('ada@example.com');
    await running.auth.processAll();
  };
  await whileLocked(running.database, [locking], send, { meanwhile: (holder) => holder.query(change) });
  expect(running.postbox.mails.filter(({ to }) => to === 'ada@example.com')).toEqual([]);
});
