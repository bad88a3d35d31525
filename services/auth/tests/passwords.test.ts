import { whileLocked } from '@taskmesh/testing';
import { CHANGE_PASSWORD, codeOf, LOGIN_PLAIN, outcomesOf, type OpenSession } from './support/operations.ts';
import { PASSWORD, useAuth } from './support/running-auth.ts';

const MINUTE_MS = 60_000;
const NEW_PASSWORD = 'another horse battery';

const running = useAuth();

const login = (email: string, password: string) => running.send(LOGIN_PLAIN, { input: { email, password } });

describe('changing the password', () => {
  const change = (
    { identity }: Pick<OpenSession, 'identity'>,
    currentPassword = PASSWORD,
    newPassword = NEW_PASSWORD,
  ) => running.send(CHANGE_PASSWORD, { input: { currentPassword, newPassword } }, identity);

  it('succeeds once in many concurrent attempts', async () => {
    const ada = await running.signUp('ada@example.com');
    const passwords = Array.from({ length: 5 }, (_, number) => `${NEW_PASSWORD} ${number}`);
    const results = await Promise.all(passwords.map((password) => change(ada, PASSWORD, password)));
    const won = passwords.filter((_password, index) => !results[index]?.errors);
    expect(won).toHaveLength(1);
    for (const password of passwords)
      expect(codeOf(await login('ada@example.com', password))).toBe(
        password === won[0] ? undefined : 'UNAUTHENTICATED',
      );
  });

  it('invalidates a recovery mail that was already sent', async () => {
    const ada = await running.signUp('ada@example.com');
    const token = await running.mailedToken('ada@example.com');
    await change(ada);
    expect(codeOf(await running.resetPassword(token, 'a third horse battery'))).toBe('BAD_USER_INPUT');
  });

  it('cancels a recovery mail in progress', async () => {
    await running.signUp('ada@example.com');
    const send = async () => {
      await running.requestReset('ada@example.com');
      await running.auth.processAll();
    };
    await whileLocked(running.database, ['select from accounts for update'], send, {
      meanwhile: (change) => change.query('delete from recovery_requests'),
    });
    expect(running.postbox.mails).toEqual([]);
  });

  it('is reported by mail, even after mails of kinds that only a newer version knows, which it skips', async () => {
    const ada = await running.signUp('ada@example.com');
    await running.database.query(
      `insert into account_mails (id, account_id, kind, recipient, request_id, created_at, next_attempt_at)
       select gen_random_uuid(), $1, 'kind.of.tomorrow', 'ada@example.com', 'request-1', to_timestamp(0), to_timestamp(n)
       from generate_series(1, 3) n`,
      [ada.userId],
    );
    await change(ada);
    await running.auth.processAll();
    expect(running.postbox.mails.map(({ subject }) => subject)).toEqual(['Your Taskmesh password was changed']);
    expect(
      await running.database.query(
        'select kind, attempts, next_attempt_at = to_timestamp(1) as first from account_mails order by next_attempt_at',
      ),
    ).toEqual([true, false, false].map((first) => ({ kind: 'kind.of.tomorrow', attempts: 0, first })));
  });

  it('is reported at most twenty times an hour, as the address of a new account is not confirmed', async () => {
    const ada = await running.signUp('victim@example.com');
    for (let count = 0; count < 10; count++) await change(ada, PASSWORD, PASSWORD);
    running.postbox.failure = new Error('connect ECONNREFUSED');
    await running.auth.processAll();
    running.postbox.failure = undefined;
    running.clock.advance(10_000);
    for (let count = 0; count < 12; count++) expect((await change(ada, PASSWORD, PASSWORD)).errors).toBeUndefined();
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
    expect(answers).toEqual([{ data: { requestPasswordReset: true } }, { data: { requestPasswordReset: true } }]);
    await running.auth.processAll();
    const rows = await running.database.query('select email_key from recovery_requests');
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
    const [waiting] = await running.database.query('select attempts, next_attempt_at from recovery_requests');
    expect(waiting?.attempts).toBe(2);
    expect(Number(waiting?.next_attempt_at) - running.clock.now()).toBeGreaterThan(1_000);

    await running.auth.stop();
    running.postbox.failure = undefined;
    const restarted = await running.another();
    running.clock.advance(2_500);
    await restarted.processAll();
    expect(running.postbox.mails).toHaveLength(1);
    expect(await running.database.query('select 1 from recovery_requests')).toEqual([]);
  });

  it('sends each mail once with two instances', async () => {
    const other = await running.another();
    for (const name of ['a', 'b', 'c', 'd', 'e']) {
      await running.signUp(`${name}@example.com`);
      await running.requestReset(`${name}@example.com`);
    }
    await Promise.all([running.auth.processAll(), other.processAll()]);
    expect(running.postbox.mails.map(({ to }) => to).toSorted()).toEqual(
      ['a', 'b', 'c', 'd', 'e'].map((name) => `${name}@example.com`),
    );
  });
});

describe('setting a new password', () => {
  it('accepts a token once, even in parallel requests', async () => {
    await running.signUp('ada@example.com');
    const token = await running.mailedToken('ada@example.com');
    const attempts = ['first new one', 'second new one'].map((password) => reset(token, password));
    expect(await outcomesOf(attempts)).toEqual({ ok: 1, BAD_USER_INPUT: 1 });
    expect(codeOf(await reset(token))).toBe('BAD_USER_INPUT');
  });

  it("does not use up the token for a rejected password, like the account's address", async () => {
    await running.signUp('ada@example.com');
    const token = await running.mailedToken('ada@example.com');
    const refused = await reset(token, 'Ada@Example.com');
    expect(refused.errors?.[0]?.extensions).toMatchObject({
      code: 'BAD_USER_INPUT',
      issues: [{ path: 'newPassword' }],
    });
    expect(codeOf(await reset(token))).toBeUndefined();
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
    const open = await running.database.query('select 1 from sessions where account_id = $1 and ended_at is null', [
      userId,
    ]);
    expect(open).toEqual([]);
  });
});
