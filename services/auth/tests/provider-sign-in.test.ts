import { startSignInProvider } from '@taskmesh/testing/sign-in-provider';
import { decodeJwt } from 'jose';
import {
  ADA,
  resultIn,
  begin,
  codeFor,
  complete,
  personOf,
  REDIRECT_URI,
  settingsFor,
  signedIn,
  signInWith,
  useSignIn,
  VERIFIER,
  LINK_IDENTITY,
  LINKED_IDENTITIES,
  UNLINK_IDENTITY,
  type Person,
} from './support/provider-sign-in.ts';
import { PASSWORD, runAuth, tokenIn } from './support/running-auth.ts';
import {
  CHANGE_EMAIL,
  CHANGE_PASSWORD,
  codeOf,
  outcomesOf,
  CONFIRM_EMAIL,
  type OpenSession,
} from './support/operations.ts';
import { ARCHIVED, archiveOf, swap } from './support/restored.ts';

const MINUTE_MS = 60_000;

const { provider, running } = useSignIn();

const accounts = () => running.database.query('select id, email, name, has_password from accounts order by email');
const facts = async () =>
  (await running.database.query('select kind from audit_log order by id')).map(({ kind }) => kind);
const emailedTo = (to: string) => running.postbox.mails.filter((mail) => mail.to === to).map(({ subject }) => subject);

describe('signing in through the provider', () => {
  it('keeps the code usable if the session could not be stored', async () => {
    const attempts = async () => {
      const code = await codeFor(running, provider, 'ada');
      await running.database.query('alter table refresh_tokens rename to away');
      const failed = await signInWith(running, code);
      await running.database.query('alter table away rename to refresh_tokens');
      return { failed: codeOf(failed), userId: personOf(await signInWith(running, code)).userId };
    };
    const first = await attempts();
    expect([first, await attempts()]).toEqual(Array(2).fill({ failed: 'INTERNAL_SERVER_ERROR', userId: first.userId }));
    expect(await accounts()).toHaveLength(1);
  });

  it('opens a session of the same account the next time, even if the address at the provider has changed', async () => {
    const first = await signedIn(running, provider, 'ada');
    provider.accounts.set('ada', { email: 'other@example.com', email_verified: false });
    expect((await signedIn(running, provider, 'ada')).userId).toBe(first.userId);
    expect(await accounts()).toHaveLength(1);
  });

  it('requests the user info only if the ID token lacks the address or whether it is verified', async () => {
    const telling = await startSignInProvider({ redirectUri: REDIRECT_URI, hasThinTokens: false });
    telling.accounts.set('ada', ADA);
    const other = await runAuth({ env: settingsFor(telling) });
    expect((await signedIn(other, telling, 'ada')).email).toBe(ADA.email);
    await signedIn(running, provider, 'ada');
    expect([provider, telling].map(({ requests }) => requests.includes('GET /me'))).toEqual([true, false]);

    telling.tamper(async (path, body) => {
      if (path !== '/token') return body;
      const { email_verified: _, ...claims } = decodeJwt(String(body.id_token));
      return { ...body, id_token: await telling.sign(claims) };
    });
    telling.accounts.set('bob', { email: 'bob@example.com', email_verified: true });
    expect((await signedIn(other, telling, 'bob')).email).toBe('bob@example.com');
    telling.accounts.set('carol', { email: 'carol@example.com', email_verified: false });
    await expect(signedIn(other, telling, 'carol')).rejects.toThrow();
    await other.stop();
  });

  it.each<[string, object, string]>([
    ['without a name', {}, 'ada'],
    ['whose name is none', { name: 'a\u0000b' }, 'ada'],
    ['with an invisible part before the @', { email: '\u200b@example.com' }, '\u200b@example.com'],
  ])('names somebody %s by what stands before the @, or by the address', async (_who, account, name) => {
    provider.accounts.set('ada', { email: ADA.email, email_verified: 'true', ...account }); // some providers send a string
    await signedIn(running, provider, 'ada');
    expect((await accounts())[0]?.name).toBe(name);
  });

  it('is rejected without a verified address, and opens nothing', async () => {
    for (const account of [
      { email: 'ada@example.com', email_verified: false },
      { email: 'ada@example.com', email_verified: 'false' },
      { email: 'ada@example.com' },
      { email_verified: true },
      { email: 'no address', email_verified: true },
      { email: 'a\u0000@example.com', email_verified: true },
    ]) {
      provider.accounts.set('ada', account);
      const result = await signInWith(running, await codeFor(running, provider, 'ada'));
      expect(codeOf(result)).toBe('FORBIDDEN');
      // The right password of an account with that address does not help, either.
      expect(await accounts()).toEqual([]);
    }
  });

  it('rejects an unverified address in the same way with and without an account, at any age of the code', async () => {
    await running.signUp('bob@example.com');
    for (const email of ['bob@example.com', 'unknown@example.com']) {
      provider.accounts.set('ada', { email, email_verified: false });
      const code = await codeFor(running, provider, 'ada');
      running.clock.advance(MINUTE_MS);
      expect(codeOf(await signInWith(running, code))).toBe('FORBIDDEN');
    }
  });

  it('stores no usable secret: neither cookie, code, state nor page secret', async () => {
    const { location, binding } = await begin(running);
    const pending = JSON.stringify(await running.database.query('select * from pending_sign_ins'));
    const code = resultIn(await complete(running, binding, await provider.signIn(location, 'ada'))).get('sign_in_code');
    const codes = JSON.stringify(await running.database.query('select * from sign_in_codes'));
    const parts = [...binding.split('.'), binding, code ?? '', VERIFIER];
    for (const part of parts) expect([pending.includes(part), codes.includes(part)]).toEqual([false, false]);
    expect(await running.database.query('select 1 from pending_sign_ins')).toEqual([]);
  });
});

describe('an existing account with the same address', () => {
  it('is linked only with its password, once, and is notified by mail', async () => {
    const { userId } = await running.signUp('Ada@Example.com');
    const code = await codeFor(running, provider, 'ada');
    const refused = await signInWith(running, code);
    expect(codeOf(refused)).toBe('LINK_REQUIRED');
    expect(refused.extensions?.session).toBeUndefined();
    expect(codeOf(await signInWith(running, code, { password: 'wrong' }))).toBe('BAD_USER_INPUT');
    expect(await running.database.query('select 1 from linked_identities')).toEqual([]);
    expect(personOf(await signInWith(running, code, { password: PASSWORD })).userId).toBe(userId);
    expect(codeOf(await signInWith(running, code, { password: PASSWORD }))).toBe('BAD_USER_INPUT');
    expect((await signedIn(running, provider, 'ada')).userId).toBe(userId);
    await running.auth.processAll();
    expect(emailedTo('Ada@Example.com')).toEqual(['Another way to sign in to your Taskmesh account']);
    expect(await facts()).toEqual(expect.arrayContaining(['login.failed', 'identity.linked']));
    await running.logIn(ADA.email);
  });

  it('can be linked within ten minutes, even with a password set by mail meanwhile', async () => {
    await running.signUp(ADA.email);
    const code = await codeFor(running, provider, 'ada');
    expect(codeOf(await signInWith(running, code))).toBe('LINK_REQUIRED');
    await running.resetByMail(ADA.email, 'a password set by mail');
    running.clock.advance(9 * MINUTE_MS);
    expect(codeOf(await signInWith(running, code, { password: 'a password set by mail' }))).toBeUndefined();
  });

  it('cannot be linked later, nor by a page with another secret', async () => {
    await running.signUp(ADA.email);
    const code = await codeFor(running, provider, 'ada');
    expect(codeOf(await signInWith(running, code))).toBe('LINK_REQUIRED');
    const other = { verifier: `${VERIFIER}-of-another-page`, password: PASSWORD };
    expect(codeOf(await signInWith(running, code, other))).toBe('BAD_USER_INPUT');
    running.clock.advance(10 * MINUTE_MS);
    expect(codeOf(await signInWith(running, code, { password: PASSWORD }))).toBe('BAD_USER_INPUT');
  });

  it('is not opened for another user of the provider who got a reassigned address', async () => {
    await signedIn(running, provider, 'ada');
    provider.accounts.set('successor', ADA);
    const code = await codeFor(running, provider, 'successor');
    expect(codeOf(await signInWith(running, code))).toBe('LINK_REQUIRED');
    expect(codeOf(await signInWith(running, code, { password: '' }))).toBe('CONFLICT');
    expect(await running.database.query('select subject from linked_identities')).toEqual([{ subject: 'ada' }]);
  });
});

describe('the code of a sign-in', () => {
  it('works once, even in many concurrent attempts', async () => {
    await signedIn(running, provider, 'ada');
    const code = await codeFor(running, provider, 'ada');
    const attempts = Array.from({ length: 8 }, () => signInWith(running, code));
    expect(await outcomesOf(attempts)).toEqual({ ok: 1, BAD_USER_INPUT: 7 });
    expect(await running.database.query(`select 1 from sessions`)).toHaveLength(2);
  });

  it('is valid for a minute, with the secret of the page that began', async () => {
    const code = await codeFor(running, provider, 'ada');
    for (const input of [{ verifier: `${VERIFIER}x` }, { verifier: 'short' }, { verifier: '' }])
      expect(codeOf(await signInWith(running, code, input))).toBe('BAD_USER_INPUT');
    running.clock.advance(MINUTE_MS);
    expect(codeOf(await signInWith(running, code))).toBe('BAD_USER_INPUT');
    expect(await accounts()).toEqual([]);
  });

  it('of a linked identity opens nothing after a minute, even with the right password', async () => {
    await signedIn(running, provider, 'ada');
    const code = await codeFor(running, provider, 'ada');
    running.clock.advance(MINUTE_MS);
    for (const password of [undefined, '', PASSWORD]) {
      const { errors } = await signInWith(running, code, password === undefined ? {} : { password });
      expect(errors?.[0]?.extensions?.issues).toEqual([expect.objectContaining({ path: 'code' })]);
    }
    expect(await running.database.query('select 1 from sessions')).toHaveLength(1);
  });

  it('of a new user opens one account in many concurrent attempts', async () => {
    for (let round = 1; round <= 5; round++) {
      const sub = `ada${round}`;
      provider.accounts.set(sub, { ...ADA, email: `${sub}@example.com` });
      const codes = await Promise.all(Array.from({ length: 5 }, () => codeFor(running, provider, sub)));
      const people = (await Promise.all(codes.map((code) => signInWith(running, code)))).map(personOf);
      expect(new Set(people.map(({ userId }) => userId)).size).toBe(1);
      expect(await accounts()).toHaveLength(round);
    }
  });

  it('of a new user never takes over the account of a concurrent sign-up', async () => {
    for (let round = 0; round < 5; round++) {
      const email = `ada${round}@example.com`;
      provider.accounts.set(`ada${round}`, { ...ADA, email });
      const code = await codeFor(running, provider, `ada${round}`);
      const [entered, joined] = await Promise.allSettled([signInWith(running, code), running.signUp(email)]);
      const outcome = entered.status === 'fulfilled' ? codeOf(entered.value) : entered.status;
      expect([outcome, joined.status]).toEqual(
        outcome === undefined ? [undefined, 'rejected'] : ['LINK_REQUIRED', 'fulfilled'],
      );
    }
  });

  it('is deleted after its expiry, like sign-ins that were never finished', async () => {
    await codeFor(running, provider, 'ada');
    await begin(running);
    running.clock.advance(11 * MINUTE_MS);
    await running.auth.processAll();
    expect(
      await running.database.query('select hash from pending_sign_ins union select hash from sign_in_codes'),
    ).toEqual([]);
  });
});

describe('an account without a password', () => {
  it('is reported wherever the password is required, and gets its first one by a recovery mail', async () => {
    const { identity } = await signedIn(running, provider, 'ada');
    const change = { input: { currentPassword: '', newPassword: 'the first password' } };
    for (const result of [
      await running.send(CHANGE_PASSWORD, change, identity),
      await running.send(CHANGE_EMAIL, { input: { email: 'new@example.com', password: '' } }, identity),
    ])
      expect([codeOf(result), result.errors?.[0]?.message]).toEqual([
        'CONFLICT',
        expect.stringContaining('recovery mail'),
      ]);
    await running.resetByMail(ADA.email, 'the first password');
    const { identity: again } = await running.logIn(ADA.email, 'the first password');
    const next = { input: { currentPassword: 'the first password', newPassword: 'the second password' } };
    expect(codeOf(await running.send(CHANGE_PASSWORD, next, again))).toBeUndefined();
    expect((await signedIn(running, provider, 'ada')).userId).toBe((await accounts())[0]?.id);
  });
});

type Asking = Pick<Person | OpenSession, 'identity'>;

const link = (code: string, { identity }: Asking, password = PASSWORD) =>
  running.send(LINK_IDENTITY, { input: { code, verifier: VERIFIER, password } }, identity);
const unlink = (id: string, { identity }: Asking) => running.send(UNLINK_IDENTITY, { id }, identity);
const listOf = async ({ identity }: Asking) =>
  (await running.send(LINKED_IDENTITIES, {}, identity)).data?.['linkedIdentities'] as {
    id: string;
    issuer: string;
    email: string;
  }[];
const subjects = () => running.postbox.mails.map(({ to, subject }) => `${to}: ${subject}`);

describe('linking by a signed-in user', () => {
  it("requires the account's password and verified address; the identity is listed, reported by mail, and can sign in", async () => {
    const ada = await running.signUp('Ada@Example.com');
    expect(codeOf(await link(await codeFor(running, provider, 'ada'), ada))).toBeUndefined();
    expect(await listOf(ada)).toEqual([
      {
        ...{ id: expect.any(String), issuer: provider.issuer, email: ADA.email },
        ...{ createdAt: expect.any(String), lastUsedAt: expect.any(String) },
      },
    ]);
    await running.auth.processAll();
    expect(subjects()).toEqual(['Ada@Example.com: Another way to sign in to your Taskmesh account']);
    expect((await signedIn(running, provider, 'ada')).userId).toBe(ada.userId);
  });

  it('is rejected with a wrong password, which counts as a failed login and does not use up the code', async () => {
    const ada = await running.signUp(ADA.email);
    const code = await codeFor(running, provider, 'ada');
    expect(codeOf(await link(code, ada, 'wrong'))).toBe('BAD_USER_INPUT');
    expect(await running.database.query(`select 1 from audit_log where kind = 'login.failed'`)).toHaveLength(1);
    expect(codeOf(await link(code, ada))).toBeUndefined();
    expect(codeOf(await link(code, ada))).toBe('BAD_USER_INPUT');
  });

  it('is rejected for another address, so that no one keeps access to an account whose address is not theirs', async () => {
    const squatter = await running.signUp('victim@example.com');
    expect(codeOf(await link(await codeFor(running, provider, 'ada'), squatter))).toBe('FORBIDDEN');
    provider.accounts.set('ada', { ...ADA, email: 'victim@example.com', email_verified: false });
    expect(codeOf(await link(await codeFor(running, provider, 'ada'), squatter))).toBe('FORBIDDEN');
    expect(await listOf(squatter)).toEqual([]);
  });

  it('is rejected for an identity that is already linked to any account', async () => {
    await signedIn(running, provider, 'ada');
    const bob = await running.signUp('bob@example.com');
    expect(codeOf(await link(await codeFor(running, provider, 'ada'), bob))).toBe('CONFLICT');
    expect(await listOf(bob)).toEqual([]);
  });

  it('links once in many concurrent attempts, with the same or different codes', async () => {
    const ada = await running.signUp(ADA.email);
    const codes = await Promise.all(Array.from({ length: 4 }, () => codeFor(running, provider, 'ada')));
    const [one = '', two = '', three = '', four = ''] = codes;
    const results = await Promise.all([
      link(one, ada),
      link(one, ada),
      link(two, ada),
      signInWith(running, three, { password: PASSWORD }),
      signInWith(running, four, { password: PASSWORD }),
    ]);
    expect(await listOf(ada)).toHaveLength(1);
    expect(results.filter((result) => codeOf(result) === undefined).length).toBeGreaterThan(0);
    for (const code of results.map(codeOf)) expect([undefined, 'CONFLICT', 'BAD_USER_INPUT']).toContain(code);
    await running.auth.processAll();
    expect(subjects()).toHaveLength(1);
  });
});

describe('unlinking an identity', () => {
  it('is reported by mail, and the identity can no longer sign in', async () => {
    const ada = await running.signUp(ADA.email);
    await link(await codeFor(running, provider, 'ada'), ada);
    const [linked] = await listOf(ada);
    expect((await unlink(linked?.id ?? '', ada)).data).toEqual({ unlinkIdentity: linked?.id });
    expect(await listOf(ada)).toEqual([]);
    await running.auth.processAll();
    expect(subjects()).toContain('ada@example.com: A way to sign in to your Taskmesh account was removed');
    expect(codeOf(await signInWith(running, await codeFor(running, provider, 'ada')))).toBe('LINK_REQUIRED');
    expect(codeOf(await unlink(linked?.id ?? '', ada))).toBe('NOT_FOUND');
  });

  it('is rejected for the only way in until there is a password', async () => {
    const ada = await signedIn(running, provider, 'ada');
    const [linked] = await listOf(ada);
    expect(codeOf(await unlink(linked?.id ?? '', ada))).toBe('CONFLICT');
    await running.resetByMail(ADA.email, 'the first password');
    const again = await signedIn(running, provider, 'ada');
    expect(codeOf(await unlink(linked?.id ?? '', again))).toBeUndefined();
  });

  it('leaves one of two that are unlinked concurrently if there is no password', async () => {
    const ada = await signedIn(running, provider, 'ada');
    await running.database.query(
      `insert into linked_identities select gen_random_uuid(), account_id, issuer, 'second', email, created_at, last_used_at
       from linked_identities`,
    );
    const results = await Promise.all((await listOf(ada)).map(({ id }) => unlink(id, ada)));
    expect(results.map(codeOf).toSorted()).toEqual(['CONFLICT', undefined]);
    expect(await listOf(ada)).toHaveLength(1);
  });

  it('does not find identities of other accounts', async () => {
    const ada = await signedIn(running, provider, 'ada');
    const bob = await running.signUp('bob@example.com');
    for (const id of [(await listOf(ada))[0]?.id ?? '', 'nonsense', '0199e1c3-0a41-7d1e-8d5c-2f6a8a1b9c3d'])
      expect(codeOf(await unlink(id, bob))).toBe('NOT_FOUND');
    expect(await listOf(ada)).toHaveLength(1);
  });

  it('is serialized with a concurrent sign-in', async () => {
    const ada = await running.signUp(ADA.email);
    for (let round = 0; round < 5; round++) {
      await link(await codeFor(running, provider, 'ada'), ada);
      const [linked] = await listOf(ada);
      const code = await codeFor(running, provider, 'ada');
      const [entered, taken] = await Promise.all([signInWith(running, code), unlink(linked?.id ?? '', ada)]);
      expect(codeOf(taken)).toBeUndefined();
      expect([undefined, 'LINK_REQUIRED', 'BAD_USER_INPUT']).toContain(codeOf(entered));
      expect(await listOf(ada)).toEqual([]);
    }
  });
});

describe('a password reset by mail', () => {
  it('removes identities linked before the account had this address, as they would survive the recovery', async () => {
    const squatter = await running.signUp(ADA.email);
    await link(await codeFor(running, provider, 'ada'), squatter);
    await running.send(CHANGE_EMAIL, { input: { email: 'victim@example.com', password: PASSWORD } }, squatter.identity);
    await running.auth.processAll();
    const token = tokenIn(running.postbox.mails.findLast(({ to }) => to === 'victim@example.com')?.text);
    expect(codeOf(await running.send(CONFIRM_EMAIL, { token, password: PASSWORD }))).toBeUndefined();
    await running.resetByMail('victim@example.com', 'a password of the victim');
    expect(await running.database.query('select 1 from linked_identities')).toEqual([]);
    await running.auth.processAll();
    expect(subjects()).toContain('victim@example.com: A way to sign in to your Taskmesh account was removed');
    provider.accounts.set('ada', { ...ADA, email: 'elsewhere@example.com' });
    expect((await signedIn(running, provider, 'ada')).userId).not.toBe(squatter.userId);
  });
});

describe('a restored archive', () => {
  it('restores linked identities and keeps current sign-ins in progress', async () => {
    const inProgress = () =>
      running.database.query('select hash from sign_in_codes union select hash from pending_sign_ins order by hash');
    const ada = await signedIn(running, provider, 'ada');
    await codeFor(running, provider, 'ada');
    const archive = await archiveOf(running);
    expect(codeOf(await link(await codeFor(running, provider, 'ada'), ada, ''))).toBe('CONFLICT');
    await running.database.query('delete from linked_identities');
    expect(await running.auth.restore.importDatabase(archive.name, ARCHIVED)).toMatchObject({
      complete: true,
      rows: { accounts: 1, linked_identities: 1 },
    });
    await running.database.query('delete from sign_in_codes where hash = (select min(hash) from sign_in_codes)');
    const before = await inProgress();
    await swap(running, archive.name);
    expect(await inProgress()).toEqual(before);
    expect((await signedIn(running, provider, 'ada')).userId).toBe(ada.userId);
  });
});
