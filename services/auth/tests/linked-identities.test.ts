import {
  ADA,
  codeFor,
  LINK_IDENTITY,
  LINKED_IDENTITIES,
  signedIn,
  signInWith,
  useSignIn,
  UNLINK_IDENTITY,
  VERIFIER,
  type Person,
} from './support/provider-sign-in.ts';
import { PASSWORD, tokenIn } from './support/running-auth.ts';
import { CHANGE_EMAIL, codeOf, CONFIRM_EMAIL, type OpenSession } from './support/operations.ts';
import { ARCHIVED, archiveOf, swap } from './support/restored.ts';

const { provider, running } = useSignIn();

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
