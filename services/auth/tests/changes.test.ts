import { codeOf,CHANGE_PASSWORD,LOGIN_PLAIN,REQUEST_RESET,RESET,signedUp,type OpenSession } from './support/operations.ts'; // prettier-ignore
import { tokenIn } from './support/mails.ts';
import { PASSWORD, useAuth } from './support/running-auth.ts';

const NEW_PASSWORD = 'another horse battery';

const running = useAuth();

const login = (email: string, password: string) => running.send(LOGIN_PLAIN, { input: { email, password } });
const kindsOf = async ({ userId }: OpenSession) =>
  (await running.database.query('select kind from audit_log where account_id = $1 order by id', [userId])).map(
    ({ kind }) => kind,
  );

describe('changing the password', () => {
  const change = (
    { identity }: Pick<OpenSession, 'identity'>,
    currentPassword = PASSWORD,
    newPassword = NEW_PASSWORD,
  ) => running.send(CHANGE_PASSWORD, { input: { currentPassword, newPassword } }, identity);

  it('counts wrong ones as failed logins: then neither the right one works nor a login, until a reset by mail', async () => {
    const ada = await signedUp(running, 'ada@example.com');
    for (let tries = 0; tries < 10; tries++) expect(codeOf(await change(ada, `wrong ${tries}`))).toBe('BAD_USER_INPUT');
    const refused = await change(ada);
    expect(refused.errors?.[0]?.extensions).toEqual({ code: 'RATE_LIMITED', retryAfterSeconds: expect.any(Number) });
    expect(codeOf(await login('ada@example.com', PASSWORD))).toBe('RATE_LIMITED');
    expect((await kindsOf(ada)).filter((kind) => kind === 'login.failed')).toHaveLength(10);
  });

  it('has one winner among many at once', async () => {
    const ada = await signedUp(running, 'ada@example.com');
    const passwords = Array.from({ length: 5 }, (_, number) => `${NEW_PASSWORD} ${number}`);
    const results = await Promise.all(passwords.map((password) => change(ada, PASSWORD, password)));
    const won = passwords.filter((_password, index) => !results[index]?.errors);
    expect(won).toHaveLength(1);
    for (const password of passwords)
      expect(codeOf(await login('ada@example.com', password))).toBe(
        password === won[0] ? undefined : 'UNAUTHENTICATED',
      );
  });

  it('takes the worth from a recovery mail that is on its way', async () => {
    const ada = await signedUp(running, 'ada@example.com');
    await running.send(REQUEST_RESET, { email: 'ada@example.com' });
    await running.auth.processAll();
    const token = tokenIn(running.postbox.mails[0]?.text);
    await change(ada);
    expect(codeOf(await running.send(RESET, { input: { token, newPassword: 'a third horse battery' } }))).toBe(
      'BAD_USER_INPUT',
    );
  });

  it('is announced by mail, behind mails that only a newer version knows, which it leaves to that one', async () => {
    const ada = await signedUp(running, 'ada@example.com');
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

  it('is announced twenty times an hour at most, as the address of a new account is not confirmed', async () => {
    const ada = await signedUp(running, 'victim@example.com');
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
