import { whileLocked } from '@taskmesh/testing';
import type { Issue } from '@taskmesh/contracts';
import type { Identity } from '@taskmesh/identity';
import type { SubgraphResult } from '@taskmesh/subgraph';
import { dummyHash } from '../src/passwords/hasher.ts';
import { PASSWORD, tokenIn, useAuth } from './support/running-auth.ts';
import {
  CHANGE_EMAIL,
  CHANGE_PASSWORD,
  codeOf,
  CONFIRM_EMAIL,
  LOGIN_PLAIN,
  outcomesOf,
  type OpenSession,
} from './support/operations.ts';

const HOUR_MS = 3_600_000;

const running = useAuth();

const request = ({ identity }: Pick<OpenSession, 'identity'>, email: string, password = PASSWORD) =>
  running.send(CHANGE_EMAIL, { input: { email, password } }, identity);
/** Confirms without a session and with the password, by default. */
const confirm = (
  token: string,
  { password, identity }: { password?: string; identity?: Identity } = { password: PASSWORD },
) => running.send(CONFIRM_EMAIL, { token, password }, identity);
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
  running.database.query('update accounts set has_password = false, password_hash = $2 where id = $1', [
    userId,
    dummyHash(),
  ]);

/** The token last mailed to this address. */
async function tokenFor(email: string): Promise<string> {
  return tokenIn((await mails()).filter(({ to }) => to === email).at(-1)?.text);
}

/** An account that requests another address, and the token that is mailed there. */
async function requested(email = 'new@example.com') {
  const ada = await running.signUp('ada@example.com');
  await request(ada, email);
  return { ada, token: await tokenFor(email) };
}

describe('changing the address', () => {
  it('accepts another spelling of the same address, but not the identical one', async () => {
    const ada = await running.signUp('ada@example.com');
    await request(ada, 'Ada@Example.com');
    await confirm(await tokenFor('Ada@Example.com'));
    expect(await emailOf(ada)).toBe('Ada@Example.com');
    expect(codeOf(await request(ada, 'Ada@Example.com'))).toBe('BAD_USER_INPUT');
  });
});

describe('a confirmation mail that reaches a stranger through a mistyped address', () => {
  it('does not let the stranger take over the account by address or by password', async () => {
    const { ada, token } = await requested('stranger@example.com');
    const stranger = await running.signUp('stranger@elsewhere.example', 'the password of a stranger');
    const tries = [
      await confirm(token, {}),
      await confirm(token, { password: '' }),
      await confirm(token, { password: 'a guess' }),
      await confirm(token, { password: 'the password of a stranger' }),
      await confirm(token, stranger),
      await confirm(token, { ...stranger, password: 'the password of a stranger' }),
    ];
    expect(tries.map(codeOf)).toEqual([
      ...['UNAUTHENTICATED', 'UNAUTHENTICATED', 'BAD_USER_INPUT', 'BAD_USER_INPUT', 'FORBIDDEN', 'BAD_USER_INPUT'],
    ]);
    await running.requestReset('stranger@example.com');
    expect((await mails()).map(({ to }) => to)).toEqual(['stranger@example.com']);
    expect(await emailOf(ada)).toBe('ada@example.com');
    await running.logIn('ada@example.com');
  });

  it('reveals nothing about the account, not even that it has no password', async () => {
    const answers = [];
    for (const hasPassword of [true, false]) {
      const ada = await running.signUp(`ada.${hasPassword}@example.com`);
      await request(ada, 'stranger@example.com');
      const token = await tokenFor('stranger@example.com');
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
    const login = { input: { email: 'ada@example.com', password: PASSWORD } };
    expect(codeOf(await running.send(LOGIN_PLAIN, login))).toBe('RATE_LIMITED');
    const failed = `select 1 from audit_log where kind = 'login.failed' and account_id = $1`;
    expect(await running.database.query(failed, [ada.userId])).toHaveLength(10);
    expect((await confirm(token, ada)).data).toEqual({ confirmEmailChange: true });
  });
});

describe('the owner of the account', () => {
  it('must confirm with a session if the account has no password', async () => {
    const { ada, token } = await requested();
    await takePassword(ada);
    expect(pathOf(await confirm(token))).toBe('password');
    expect((await confirm(token, ada)).data).toEqual({ confirmEmailChange: true });
  });
});

describe('a token for a new address', () => {
  it('works once, even in many concurrent attempts', async () => {
    const { token } = await requested();
    const attempts = Array.from({ length: 8 }, () => confirm(token));
    expect(await outcomesOf(attempts)).toEqual({ ok: 1, BAD_USER_INPUT: 7 });
    expect((await mails()).filter(({ to }) => to === 'ada@example.com')).toHaveLength(1);
  });

  it('is rejected after an hour and then deleted, like those that never existed', async () => {
    const { token } = await requested();
    running.clock.advance(HOUR_MS + 1_000);
    for (const unusable of [token, '', 'nonsense', '\0', '\ud800', 'x'.repeat(2_000), "' or true --"])
      expect(pathOf(await confirm(unusable))).toBe('token');
    await running.auth.processAll();
    expect(await running.database.query('select 1 from email_tokens')).toEqual([]);
  });

  it.each<[string, (ada: OpenSession) => Promise<unknown>]>([
    ['another address', (ada) => request(ada, 'third@example.com')],
    [
      'another password',
      ({ identity }) =>
        running.send(
          CHANGE_PASSWORD,
          { input: { currentPassword: PASSWORD, newPassword: 'another horse battery' } },
          identity,
        ),
    ],
    ['a password that was set by mail', () => running.resetByMail('ada@example.com', 'another horse battery')],
  ])('is invalid after %s', async (_what, end) => {
    const { ada, token } = await requested();
    expect(codeOf((await end(ada)) as Awaited<ReturnType<typeof request>>)).toBeUndefined();
    expect(pathOf(await confirm(token))).toBe('token');
  });

  it('invalidates recovery mails to the former address', async () => {
    const ada = await running.signUp('ada@example.com');
    const reset = await running.mailedToken('ada@example.com');
    await request(ada, 'new@example.com');
    await confirm(await tokenFor('new@example.com'));
    expect(codeOf(await running.resetPassword(reset, 'another horse battery'))).toBe('BAD_USER_INPUT');
  });
});

describe('an address that is taken', () => {
  it('can be requested like any other, and only its owner learns of it', async () => {
    const ada = await running.signUp('ada@example.com');
    await running.signUp('Bob@example.com');
    const answers = [await request(ada, 'free@example.com'), await request(ada, 'bob@EXAMPLE.com')];
    expect(answers[0]).toEqual(answers[1]);
    expect(answers[0]).toEqual({ data: { requestEmailChange: true } });
    const [mail, ...more] = (await mails()).filter(({ to }) => to !== 'free@example.com');
    expect([mail?.to, more]).toEqual(['Bob@example.com', []]);
    expect(mail?.text).not.toMatch(/[\w-]{43}|#token|ada@example/);
    expect(await running.database.query('select 1 from email_tokens')).toEqual([]);
  });

  it('goes to one of two accounts that confirm it concurrently', async () => {
    const [ada, bob] = [await running.signUp('ada@example.com'), await running.signUp('bob@example.com')];
    const tokens = [];
    for (const each of [ada, bob]) {
      await request(each, 'new@example.com');
      tokens.push(await tokenFor('new@example.com'));
    }
    const codes = await Promise.all(tokens.map(async (token) => codeOf(await confirm(token))));
    expect(codes.toSorted()).toEqual(['CONFLICT', undefined]);
  });
});

describe('requesting another address', () => {
  it('silently limits mails to one address to five an hour, of all callers; the last token stays valid, and recovery mails are not counted', async () => {
    await running.signUp('victim@example.com');
    const [ada, bob] = [await running.signUp('ada@example.com'), await running.signUp('bob@example.com')];
    for (const address of ['victim@example.com', 'new@example.com']) {
      for (const each of [bob, ada, bob, ada, bob, ada, ada]) {
        expect(codeOf(await request(each, address))).toBeUndefined();
        await running.auth.processAll();
      }
      expect(running.postbox.mails.filter(({ to }) => to === address)).toHaveLength(5);
    }
    expect((await confirm(await tokenFor('new@example.com'))).data).toEqual({ confirmEmailChange: true });
    await running.requestReset('victim@example.com');
    const toVictim = (await mails()).filter(({ to }) => to === 'victim@example.com');
    expect(toVictim.at(-1)?.subject).toBe('Set a new Taskmesh password');
  });

  it('locks the account before its mail, like every change, so that they do not deadlock', async () => {
    const ada = await running.signUp('ada@example.com');
    running.postbox.failure = new Error('away');
    await request(ada, 'new@example.com');
    await running.auth.processAll();
    running.postbox.failure = undefined;
    running.clock.advance(HOUR_MS / 2);
    await whileLocked(running.database, ['select 1 from accounts for update'], () => running.auth.processAll(), {
      meanwhile: async () =>
        expect(await running.database.query('select id from account_mails for update skip locked')).toHaveLength(1),
    });
    expect(running.postbox.mails).toHaveLength(1);
  });

  it('cancels a recovery mail in progress: none goes to the former address', async () => {
    await running.signUp('ada@example.com');
    const moving = `update accounts set email = 'new@example.com', email_key = 'new@example.com'`;
    await whileLocked(running.database, [moving], async () => {
      await running.requestReset('ada@example.com');
      await running.auth.processAll();
    });
    expect(running.postbox.mails.filter(({ to }) => to === 'ada@example.com')).toEqual([]);
  });
});
