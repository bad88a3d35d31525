import { hashSync } from '@node-rs/argon2';
import { hashSync as bcrypt } from 'bcrypt';
import { eventually, whileLocked } from '@taskmesh/testing';
import { randomUUID } from 'node:crypto';
import * as statements from '../src/accounts/account.statements.ts';
import { codeOf, SIGN_UP, SIGN_UP_PLAIN } from './support/operations.ts';
import { PASSWORD, useAuth } from './support/running-auth.ts';

const running = useAuth({ hashCost: { memoryCost: 16, timeCost: 2 } });

describe('signing up', () => {
  it('with a taken address is no error of PostgreSQL, whose log would show the address', async () => {
    const [address, now] = ['taken@example.com', new Date()];
    const times = [now, now, now, null, now];
    const signUp = (id: string) =>
      running.database.query(statements.SIGN_UP.text, [
        ...[id, id, ...times, null, '', 'account.created', '', null, null, address, address, '', '', now],
      ]);
    expect(await signUp(randomUUID())).toHaveLength(1);
    expect(await signUp(randomUUID())).toEqual([]);
  });

  it('reports all problems of a sign-up at once', async () => {
    const issuesOf = async (input: { email: string; password: string; name: string }) => {
      const { errors } = await running.send(SIGN_UP, { input });
      return errors?.[0]?.extensions?.issues;
    };
    const email = { path: 'email', message: 'email must be an e-mail address.' };
    const name = { path: 'name', message: 'name must have 1 to 255 characters.' };
    const short = { path: 'password', message: 'password must have 8 to 128 characters.' };
    expect(await issuesOf({ email: 'unknown', password: 'short', name: ' ' })).toEqual([email, name, short]);
    expect(await issuesOf({ email: 'ada@example.com', password: 'ada@example.com', name: '' })).toEqual([
      name,
      { path: 'password', message: 'password must not be the e-mail address.' },
    ]);
  });

  it('accepts an address only if mailers read it as people do', async () => {
    const message = 'email must not contain invisible characters or variants of letters.';
    for (const [email, isAccepted] of [
      ['ada@exam\u200bple.com', false],
      ['ada@example.com\u00ad', false],
      ['ada\u2060@example.com', false],
      ['ada@exam\ufe0fple.com', false],
      ['ada@ｅxample.com', false],
      ['ada@example\u3002com', false],
      ['ada@exämple.com', true],
      ['ada@xn--exmple-cua.com', true],
      ['ａda@example.com', true],
    ] as const) {
      const { errors } = await running.send(SIGN_UP, { input: { email, password: PASSWORD, name: 'Ada' } });
      const issues = isAccepted ? undefined : [{ path: 'email', message }];
      expect([email, errors?.[0]?.extensions?.issues]).toEqual([email, issues]);
    }
  });
});

describe('logging in', () => {
  it.each([
    ['a cheaper one', hashSync(PASSWORD, { algorithm: 2, memoryCost: 8, timeCost: 1 })],
    ['a costlier one', hashSync(PASSWORD, { algorithm: 2, memoryCost: 64, timeCost: 3 })],
    ['one of another kind', hashSync(PASSWORD, { algorithm: 1, memoryCost: 16, timeCost: 2 })],
    ['one of bcrypt', bcrypt(PASSWORD, 4)],
    ['one of bcrypt with the letter y', bcrypt(PASSWORD, 4).replace('$2b$', '$2y$')],
  ])('replaces %s with a current hash after a successful login', async (what, foreign) => {
    const email = `${what.replaceAll(' ', '-')}@example.com`;
    const columns = 'password_hash as hash, password_version as version';
    const stored = async () =>
      (await running.database.query(`select ${columns} from accounts where email_key = $1`, [email]))[0];
    await running.signUp(email);
    await running.database.query('update accounts set password_hash = $2 where email_key = $1', [email, foreign]);
    expect(codeOf(await running.tryLogIn(email, 'not the one'))).toBe('UNAUTHENTICATED');
    expect(await stored()).toEqual({ hash: foreign, version: 1 });

    let logins: Promise<unknown> | undefined;
    const logInTwice = () => (logins = Promise.all([running.logIn(email), running.logIn(email)]));
    // They do not wait until the new hash is stored.
    await whileLocked(running.database, ['lock table accounts in share mode'], logInTwice, {
      meanwhile: async () => logins,
    });
    const current = { hash: expect.stringMatching(/^\$argon2id\$v=19\$m=16,t=2,p=1\$/), version: 1 };
    await eventually(async () => expect(await stored()).toEqual(current));
    const upgraded = await stored();
    await running.logIn(email);
    expect(await stored()).toEqual(upgraded);
  });

  it('keeps a bcrypt hash of a password beyond the 72 bytes that bcrypt reads, as its end may be mistyped', async () => {
    const email = 'long@example.com';
    const password = 'a'.repeat(80);
    await running.signUp(email);
    const foreign = bcrypt(password, 4);
    await running.database.query('update accounts set password_hash = $2 where email_key = $1', [email, foreign]);
    for (const typed of [`${'a'.repeat(72)}mistyped`, password])
      expect(codeOf(await running.tryLogIn(email, typed))).toBeUndefined();
  });

  it('rejects an empty password, even if another system has hashed one', async () => {
    const email = 'none@example.com';
    await running.signUp(email);
    const foreign = hashSync('', { algorithm: 2, memoryCost: 16, timeCost: 2 });
    await running.database.query('update accounts set password_hash = $2 where email_key = $1', [email, foreign]);
    expect(codeOf(await running.tryLogIn(email, ''))).toBe('UNAUTHENTICATED');
  });

  it('creates a refresh token if it is selected, even in a fragment, and otherwise a session as short as its access token', async () => {
    const [email, input] = ['plain@example.com', { email: 'plain@example.com', password: PASSWORD }];
    await running.send(SIGN_UP_PLAIN, { input: { ...input, name: 'P' } });
    const query = `mutation ($input: LoginInput!, $skip: Boolean!) { login(input: $input) { ...S } }
      fragment S on Session { accessToken ... on Session { again: refreshToken @skip(if: $skip) } }`;
    const accessToken = expect.any(String);
    expect((await running.send(query, { input, skip: true })).data?.login).toEqual({ accessToken });
    expect((await running.send(query, { input, skip: false })).data?.login).toEqual({
      ...{ accessToken, again: expect.any(String) },
    });
    const sessions = await running.database.query(
      `select s.expires_at = s.tokens_until as short, r.hash is not null as has from accounts a
       join sessions s on s.account_id = a.id left join refresh_tokens r on r.session_id = s.id
       where a.email_key = $1 order by s.created_at`,
      [email],
    );
    expect(sessions).toEqual([
      { short: true, has: false },
      { short: true, has: false },
      { short: false, has: true },
    ]);
  });
});

describe('the caller', () => {
  it('resolves as an entity, but no other account does', async () => {
    const ada = await running.signUp('entity-ada@example.com');
    const bob = await running.signUp('entity-bob@example.com');
    const query = 'query ($r: [_Any!]!) { _entities(representations: $r) { ... on User { id email } } }';
    const r = [ada, bob].map(({ userId }) => ({ __typename: 'User', id: userId }));
    const result = await running.send(query, { r }, ada.identity);
    expect(result.data?._entities).toEqual([{ id: ada.userId, email: 'entity-ada@example.com' }, null]);
    expect((await running.send(query, { r })).data?._entities).toEqual([null, null]);
  });
});
