import { startSignInProvider } from '@taskmesh/testing/sign-in-provider';
import { decodeJwt } from 'jose';
import * as signIns from './support/provider-sign-in.ts';
import { ADA, personOf, useSignIn, VERIFIER } from './support/provider-sign-in.ts';
import { PASSWORD, runAuth, type Asking } from './support/running-auth.ts';
import { codeOf, outcomesOf } from './support/operations.ts';
import { ARCHIVED, archiveOf, swap } from './support/restored.ts';

const MINUTE_MS = 60_000;

const { provider, running, begin, codeFor, resultOf, signedIn, signInWith } = useSignIn();

const accounts = () => running.query('select id, email, name, has_password from accounts order by email');
const facts = async () => (await running.query('select kind from audit_log order by id')).map(({ kind }) => kind);
const emailedTo = (to: string) => running.postbox.mails.filter((mail) => mail.to === to).map(({ subject }) => subject);

describe('signing in through the provider', () => {
  it('keeps the code usable if the session could not be stored', async () => {
    const attempts = async () => {
      const code = await codeFor();
      await running.query('alter table refresh_tokens rename to away');
      const failed = await signInWith(code);
      await running.query('alter table away rename to refresh_tokens');
      return { failed: codeOf(failed), userId: personOf(await signInWith(code)).userId };
    };
    const first = await attempts();
    expect([first, await attempts()]).toEqual(Array(2).fill({ failed: 'INTERNAL_SERVER_ERROR', userId: first.userId }));
    expect(await accounts()).toHaveLength(1);
  });

  it('opens a session of the same account the next time, even if the address at the provider has changed', async () => {
    const first = await signedIn();
    provider.accounts.set('ada', { email: 'other@example.com', email_verified: false });
    expect((await signedIn()).userId).toBe(first.userId);
    expect(await accounts()).toHaveLength(1);
  });

  it('requests the user info only if the ID token lacks the address or whether it is verified', async () => {
    const telling = await startSignInProvider({ redirectUri: signIns.REDIRECT_URI, hasThinTokens: false });
    telling.accounts.set('ada', ADA);
    const tellingAuth = await runAuth({ env: signIns.settingsFor(telling) });
    const other = signIns.createSignIns(tellingAuth, telling);
    expect((await other.signedIn()).email).toBe(ADA.email);
    await signedIn();
    expect([provider, telling].map(({ requests }) => requests.includes('GET /me'))).toEqual([true, false]);

    telling.tamper(async (path, body) => {
      if (path !== '/token') return body;
      const { email_verified: _, ...claims } = decodeJwt(String(body.id_token));
      return { ...body, id_token: await telling.sign(claims) };
    });
    telling.accounts.set('bob', { email: 'bob@example.com', email_verified: true });
    expect((await other.signedIn('bob')).email).toBe('bob@example.com');
    telling.accounts.set('carol', { email: 'carol@example.com', email_verified: false });
    await expect(other.signedIn('carol')).rejects.toThrow();
    await tellingAuth.stop();
  });

  it.each<[string, object, string]>([
    ['without a name', {}, 'ada'],
    ['whose name is none', { name: 'a\u0000b' }, 'ada'],
    ['with an invisible part before the @', { email: '\u200b@example.com' }, '\u200b@example.com'],
  ])('names somebody %s by what stands before the @, or by the address', async (_who, account, name) => {
    provider.accounts.set('ada', { email: ADA.email, email_verified: 'true', ...account }); // some providers send a string
    await signedIn();
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
      expect(codeOf(await signInWith(await codeFor()))).toBe('FORBIDDEN');
      // The right password of an account with that address does not help, either.
      expect(await accounts()).toEqual([]);
    }
  });

  it('rejects an unverified address in the same way with and without an account, at any age of the code', async () => {
    await running.signUp('bob@example.com');
    for (const email of ['bob@example.com', 'unknown@example.com']) {
      provider.accounts.set('ada', { email, email_verified: false });
      const code = await codeFor();
      running.clock.advance(MINUTE_MS);
      expect(codeOf(await signInWith(code))).toBe('FORBIDDEN');
    }
  });

  it('stores no usable secret: neither cookie, code, state nor page secret', async () => {
    const { location, binding } = await begin();
    const pending = JSON.stringify(await running.query('select * from pending_sign_ins'));
    const { sign_in_code: code } = await resultOf(binding, await provider.signIn(location, 'ada'));
    const codes = JSON.stringify(await running.query('select * from sign_in_codes'));
    const parts = [...binding.split('.'), binding, code ?? '', VERIFIER];
    for (const part of parts) expect([pending.includes(part), codes.includes(part)]).toEqual([false, false]);
    expect(await running.query('select 1 from pending_sign_ins')).toEqual([]);
  });
});

describe('an existing account with the same address', () => {
  it('is linked only with its password, once, and is notified by mail', async () => {
    const { userId } = await running.signUp('Ada@Example.com');
    const code = await codeFor();
    const refused = await signInWith(code);
    expect(codeOf(refused)).toBe('LINK_REQUIRED');
    expect(refused.extensions?.session).toBeUndefined();
    expect(codeOf(await signInWith(code, { password: 'wrong' }))).toBe('BAD_USER_INPUT');
    expect(await running.query('select 1 from linked_identities')).toEqual([]);
    expect(personOf(await signInWith(code, { password: PASSWORD })).userId).toBe(userId);
    expect(codeOf(await signInWith(code, { password: PASSWORD }))).toBe('BAD_USER_INPUT');
    expect((await signedIn()).userId).toBe(userId);
    await running.auth.processAll();
    expect(emailedTo('Ada@Example.com')).toEqual(['Another way to sign in to your Taskmesh account']);
    expect(await facts()).toEqual(expect.arrayContaining(['login.failed', 'identity.linked']));
    await running.logIn(ADA.email);
  });

  it('can be linked within ten minutes, even with a password set by mail meanwhile', async () => {
    await running.signUp(ADA.email);
    const code = await codeFor();
    expect(codeOf(await signInWith(code))).toBe('LINK_REQUIRED');
    await running.resetByMail(ADA.email, 'a password set by mail');
    running.clock.advance(9 * MINUTE_MS);
    expect(codeOf(await signInWith(code, { password: 'a password set by mail' }))).toBeUndefined();
  });

  it('cannot be linked later, nor by a page with another secret', async () => {
    await running.signUp(ADA.email);
    const code = await codeFor();
    expect(codeOf(await signInWith(code))).toBe('LINK_REQUIRED');
    const other = { verifier: `${VERIFIER}-of-another-page`, password: PASSWORD };
    expect(codeOf(await signInWith(code, other))).toBe('BAD_USER_INPUT');
    running.clock.advance(10 * MINUTE_MS);
    expect(codeOf(await signInWith(code, { password: PASSWORD }))).toBe('BAD_USER_INPUT');
  });

  it('is not opened for another user of the provider who got a reassigned address', async () => {
    await signedIn();
    provider.accounts.set('successor', ADA);
    const code = await codeFor('successor');
    expect(codeOf(await signInWith(code))).toBe('LINK_REQUIRED');
    expect(codeOf(await signInWith(code, { password: '' }))).toBe('CONFLICT');
    expect(await running.query('select subject from linked_identities')).toEqual([{ subject: 'ada' }]);
  });
});

describe('the code of a sign-in', () => {
  it('works once, even in many concurrent attempts', async () => {
    await signedIn();
    const code = await codeFor();
    expect(await outcomesOf(Array.from({ length: 8 }, () => signInWith(code)))).toEqual({ ok: 1, BAD_USER_INPUT: 7 });
    expect(await running.query(`select 1 from sessions`)).toHaveLength(2);
  });

  it('is valid for a minute, with the secret of the page that began', async () => {
    const code = await codeFor();
    for (const input of [{ verifier: `${VERIFIER}x` }, { verifier: 'short' }, { verifier: '' }])
      expect(codeOf(await signInWith(code, input))).toBe('BAD_USER_INPUT');
    running.clock.advance(MINUTE_MS);
    expect(codeOf(await signInWith(code))).toBe('BAD_USER_INPUT');
    expect(await accounts()).toEqual([]);
  });

  it('of a linked identity opens nothing after a minute, even with the right password', async () => {
    await signedIn();
    const code = await codeFor();
    running.clock.advance(MINUTE_MS);
    for (const password of [undefined, '', PASSWORD]) {
      const { errors } = await signInWith(code, password === undefined ? {} : { password });
      expect(errors?.[0]?.extensions?.issues).toEqual([expect.objectContaining({ path: 'code' })]);
    }
    expect(await running.query('select 1 from sessions')).toHaveLength(1);
  });

  it('of a new user opens one account in many concurrent attempts', async () => {
    for (let round = 1; round <= 5; round++) {
      const sub = `ada${round}`;
      provider.accounts.set(sub, { ...ADA, email: `${sub}@example.com` });
      const codes = await Promise.all(Array.from({ length: 5 }, () => codeFor(sub)));
      const people = (await Promise.all(codes.map((code) => signInWith(code)))).map(personOf);
      expect(new Set(people.map(({ userId }) => userId)).size).toBe(1);
      expect(await accounts()).toHaveLength(round);
    }
  });

  it('of a new user never takes over the account of a concurrent sign-up', async () => {
    for (let round = 0; round < 5; round++) {
      const email = `ada${round}@example.com`;
      provider.accounts.set(`ada${round}`, { ...ADA, email });
      const code = await codeFor(`ada${round}`);
      const [entered, joined] = await Promise.allSettled([signInWith(code), running.signUp(email)]);
      const outcome = entered.status === 'fulfilled' ? codeOf(entered.value) : entered.status;
      const expected = outcome === undefined ? [undefined, 'rejected'] : ['LINK_REQUIRED', 'fulfilled'];
      expect([outcome, joined.status]).toEqual(expected);
    }
  });

  it('is deleted after its expiry, like sign-ins that were never finished', async () => {
    await codeFor();
    await begin();
    running.clock.advance(11 * MINUTE_MS);
    await running.auth.processAll();
    expect(await running.query('select hash from pending_sign_ins union select hash from sign_in_codes')).toEqual([]);
  });
});

it('an account without a password is reported wherever the password is required, and gets its first one by a recovery mail', async () => {
  const ada = await signedIn();
  const refusal = { message: expect.stringContaining('recovery mail'), extensions: { code: 'CONFLICT' } };
  expect((await running.changePassword(ada, 'the first password', '')).errors).toMatchObject([refusal]);
  expect((await running.requestEmail(ada, 'new@example.com', '')).errors).toMatchObject([refusal]);
  await running.resetByMail(ADA.email, 'the first password');
  const again = await running.logIn(ADA.email, 'the first password');
  expect(codeOf(await running.changePassword(again, 'the second password', 'the first password'))).toBeUndefined();
  expect((await signedIn()).userId).toBe((await accounts())[0]?.id);
});

const link = (code: string, { identity }: Asking, password = PASSWORD) =>
  running.send(signIns.LINK_IDENTITY, { input: { code, verifier: VERIFIER, password } }, identity);
const unlink = (id: string, { identity }: Asking) => running.send(signIns.UNLINK_IDENTITY, { id }, identity);
const listOf = async ({ identity }: Asking) =>
  (await running.send(signIns.LINKED_IDENTITIES, {}, identity)).data?.linkedIdentities as { id: string }[];
const subjects = () => running.postbox.mails.map(({ to, subject }) => `${to}: ${subject}`);

describe('linking by a signed-in user', () => {
  it("requires the account's password and verified address; the identity is listed, reported by mail, and can sign in", async () => {
    const ada = await running.signUp('Ada@Example.com');
    expect(codeOf(await link(await codeFor(), ada))).toBeUndefined();
    const times = { createdAt: expect.any(String), lastUsedAt: expect.any(String) };
    const linked = { id: expect.any(String), issuer: provider.issuer, email: ADA.email, ...times };
    expect(await listOf(ada)).toEqual([linked]);
    await running.auth.processAll();
    expect(subjects()).toEqual(['Ada@Example.com: Another way to sign in to your Taskmesh account']);
    expect((await signedIn()).userId).toBe(ada.userId);
  });

  it('is rejected with a wrong password, which counts as a failed login and does not use up the code', async () => {
    const ada = await running.signUp(ADA.email);
    const code = await codeFor();
    expect(codeOf(await link(code, ada, 'wrong'))).toBe('BAD_USER_INPUT');
    expect(await running.query(`select 1 from audit_log where kind = 'login.failed'`)).toHaveLength(1);
    expect(codeOf(await link(code, ada))).toBeUndefined();
    expect(codeOf(await link(code, ada))).toBe('BAD_USER_INPUT');
  });

  it('is rejected for another address, so that no one keeps access to an account whose address is not theirs', async () => {
    const squatter = await running.signUp('victim@example.com');
    expect(codeOf(await link(await codeFor(), squatter))).toBe('FORBIDDEN');
    provider.accounts.set('ada', { ...ADA, email: 'victim@example.com', email_verified: false });
    expect(codeOf(await link(await codeFor(), squatter))).toBe('FORBIDDEN');
    expect(await listOf(squatter)).toEqual([]);
  });

  it('is rejected for an identity that is already linked to any account', async () => {
    await signedIn();
    const bob = await running.signUp('bob@example.com');
    expect(codeOf(await link(await codeFor(), bob))).toBe('CONFLICT');
    expect(await listOf(bob)).toEqual([]);
  });

  it('links once in many concurrent attempts, with the same or different codes', async () => {
    const ada = await running.signUp(ADA.email);
    const [one = '', two = '', three = '', four = ''] = await Promise.all(Array.from({ length: 4 }, () => codeFor()));
    const results = await Promise.all([
      link(one, ada),
      link(one, ada),
      link(two, ada),
      signInWith(three, { password: PASSWORD }),
      signInWith(four, { password: PASSWORD }),
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
    await link(await codeFor(), ada);
    const [linked] = await listOf(ada);
    expect((await unlink(linked?.id ?? '', ada)).data).toEqual({ unlinkIdentity: linked?.id });
    expect(await listOf(ada)).toEqual([]);
    await running.auth.processAll();
    expect(subjects()).toContain('ada@example.com: A way to sign in to your Taskmesh account was removed');
    expect(codeOf(await signInWith(await codeFor()))).toBe('LINK_REQUIRED');
    expect(codeOf(await unlink(linked?.id ?? '', ada))).toBe('NOT_FOUND');
  });

  it('is rejected for the only way in until there is a password', async () => {
    const ada = await signedIn();
    const [linked] = await listOf(ada);
    expect(codeOf(await unlink(linked?.id ?? '', ada))).toBe('CONFLICT');
    await running.resetByMail(ADA.email, 'the first password');
    expect(codeOf(await unlink(linked?.id ?? '', await signedIn()))).toBeUndefined();
  });

  it('leaves one of two that are unlinked concurrently if there is no password', async () => {
    const ada = await signedIn();
    await running.query(
      `insert into linked_identities select gen_random_uuid(), account_id, issuer, 'second', email, created_at, last_used_at
       from linked_identities`,
    );
    const results = await Promise.all((await listOf(ada)).map(({ id }) => unlink(id, ada)));
    expect(results.map(codeOf).toSorted()).toEqual(['CONFLICT', undefined]);
    expect(await listOf(ada)).toHaveLength(1);
  });

  it('does not find identities of other accounts', async () => {
    const ada = await signedIn();
    const bob = await running.signUp('bob@example.com');
    for (const id of [(await listOf(ada))[0]?.id ?? '', 'nonsense', '0199e1c3-0a41-7d1e-8d5c-2f6a8a1b9c3d'])
      expect(codeOf(await unlink(id, bob))).toBe('NOT_FOUND');
    expect(await listOf(ada)).toHaveLength(1);
  });

  it('is serialized with a concurrent sign-in', async () => {
    const ada = await running.signUp(ADA.email);
    for (let round = 0; round < 5; round++) {
      await link(await codeFor(), ada);
      const [linked] = await listOf(ada);
      const [entered, taken] = await Promise.all([signInWith(await codeFor()), unlink(linked?.id ?? '', ada)]);
      expect(codeOf(taken)).toBeUndefined();
      expect([undefined, 'LINK_REQUIRED', 'BAD_USER_INPUT']).toContain(codeOf(entered));
      expect(await listOf(ada)).toEqual([]);
    }
  });
});

it('a password reset by mail removes identities linked before the account had this address, as they would survive the recovery', async () => {
  const squatter = await running.signUp(ADA.email);
  await link(await codeFor(), squatter);
  await running.requestEmail(squatter, 'victim@example.com');
  expect(codeOf(await running.confirmEmail(await running.tokenFor('victim@example.com'), PASSWORD))).toBeUndefined();
  await running.resetByMail('victim@example.com', 'a password of the victim');
  expect(await running.query('select 1 from linked_identities')).toEqual([]);
  await running.auth.processAll();
  expect(subjects()).toContain('victim@example.com: A way to sign in to your Taskmesh account was removed');
  provider.accounts.set('ada', { ...ADA, email: 'elsewhere@example.com' });
  expect((await signedIn()).userId).not.toBe(squatter.userId);
});

it('a restored archive restores linked identities and keeps current sign-ins in progress', async () => {
  const inProgress = () =>
    running.query('select hash from sign_in_codes union select hash from pending_sign_ins order by hash');
  const ada = await signedIn();
  await codeFor();
  const archive = await archiveOf(running);
  expect(codeOf(await link(await codeFor(), ada, ''))).toBe('CONFLICT');
  await running.query('delete from linked_identities');
  const result = await running.auth.restore.importDatabase(archive.name, ARCHIVED);
  expect(result).toMatchObject({ complete: true, rows: { accounts: 1, linked_identities: 1 } });
  await running.query('delete from sign_in_codes where hash = (select min(hash) from sign_in_codes)');
  const before = await inProgress();
  await swap(running, archive.name);
  expect(await inProgress()).toEqual(before);
  expect((await signedIn()).userId).toBe(ada.userId);
});
