import type { SignInProvider } from '@taskmesh/testing/sign-in-provider';
import { createHash, randomBytes, randomUUID } from 'node:crypto';
import { globSync, readFileSync } from 'node:fs';
import { newEmail, PASSWORD } from '../http.ts';
import { clientOf, type Platform } from './client.ts';
import { expectError } from './shapes.ts';

type Linked = { identities: { id: string }[] };

/** Sign-in with a provider, as the browser and the page that starts it do it. */
export function describeProviderSignIn(platform: () => Platform, provider: () => SignInProvider) {
  const client = clientOf(platform);
  const codes: string[] = [];

  const personAt = (account: { email: string; email_verified?: boolean }) => {
    const sub = randomUUID();
    provider().accounts.set(sub, { email_verified: true, name: 'Somebody', ...account });
    return sub;
  };

  /** Goes to the provider and back. `answer` has the fragment that the page then reads. */
  const comeBack = async (sub: string, verifier: string, returnTo = '/tasks') => {
    const challenge = createHash('sha256').update(verifier).digest('base64url');
    const query = new URLSearchParams({ return_to: returnTo, code_challenge: challenge });
    const begun = await client.call('GET', `/api/auth/oidc/start?${query.toString()}`);
    expect(begun.status).toBe(302);
    const [set = '', ...others] = begun.headers.getSetCookie();
    expect([others, begun.headers.get('cache-control')]).toEqual([[], 'no-store']);
    expect(set).toMatch(/^__Host-taskmesh-sign-in=[^;]+; Max-Age=600; Path=\/; HttpOnly; Secure; SameSite=Lax$/);
    const cookie = set.replace(/;.*/, '');
    const back = await provider().signIn(begun.headers.get('location') ?? '', sub);
    expect(back.origin).toBe(platform().publicUrl);
    codes.push(...['code', 'state'].flatMap((name) => back.searchParams.get(name) ?? []));
    codes.push(...cookie.split(/[=.]/).slice(1));
    const ended = await client.call('GET', back.pathname + back.search, { headers: { cookie } });
    expect(ended.status).toBe(302);
    const gone = '__Host-taskmesh-sign-in=; Max-Age=0; Path=/; HttpOnly; Secure; SameSite=Lax';
    expect(ended.headers.getSetCookie()).toEqual([gone]);
    expect(ended.headers.get('cache-control')).toBe('no-store');
    expect(ended.headers.get('referrer-policy')).toBe('no-referrer');
    const [path, fragment] = (ended.headers.get('location') ?? '').split('#');
    expect(path).toBe(returnTo);
    return { cookie, back, answer: new URLSearchParams(fragment) };
  };

  const codeOf = async (sub: string, verifier: string) => {
    const code = (await comeBack(sub, verifier)).answer.get('sign_in_code') ?? '';
    codes.push(code);
    return code;
  };
  const open = (json: object) => client.call('POST', '/api/auth/oidc/session', { json });
  const newVerifier = () => randomBytes(32).toString('base64url');

  describe('a sign-in at a provider', () => {
    it('is offered by name, and does not begin with an invalid parameter', async () => {
      expect((await client.call<{ name: string }>('GET', '/api/auth/oidc')).body).toEqual({ name: 'Example' });
      const challenge = `code_challenge=${'c'.repeat(43)}`;
      for (const [query, parameter] of [
        [`return_to=//evil.example&${challenge}`, 'return_to'],
        ['code_challenge=short', 'code_challenge'],
        [`${challenge}&${challenge}`, 'code_challenge'],
      ]) {
        const { status, body, headers } = await client.call('GET', `/api/auth/oidc/start?${query}`);
        expect([status, body.error.details?.[0]?.path, headers.get('location')]).toEqual([400, parameter, null]);
      }
    });

    it('creates an account and its sessions, which work and end like all others', async () => {
      const [email, verifier] = [newEmail(), newVerifier()];
      const sub = personAt({ email });
      const first = await open({ code: await codeOf(sub, verifier), verifier });
      expect([first.status, first.body.user.email]).toEqual([200, email]);
      const again = await open({ code: await codeOf(sub, verifier), verifier, refresh: true });
      expect(again.body.user.id).toBe(first.body.user.id);
      expect(again.body.refresh_token).toEqual(expect.any(String));
      const token = again.body.access_token;
      expect((await client.call<{ email: string }>('GET', '/api/auth/me', { token })).body.email).toBe(email);
      const { identities } = (await client.call<Linked>('GET', '/api/auth/identities', { token })).body;
      expect(identities).toMatchObject([{ issuer: provider().issuer, email }]);
      const path = `/api/auth/identities/${identities[0]?.id}`;
      expectError(await client.call('DELETE', path, { token }), { status: 409, code: 'CONFLICT', envelope: 'plain' });
      const { body } = await client.call<Linked>('GET', '/api/auth/export', { token });
      expect(body.identities).toEqual(identities);
    });

    it('links an account with the same address only with its password', async () => {
      const [{ email, id }, verifier] = [await client.signUp(), newVerifier()];
      const code = await codeOf(personAt({ email }), verifier);
      expectError(await open({ code, verifier }), { status: 409, code: 'LINK_REQUIRED', envelope: 'plain' });
      expect((await open({ code, verifier, password: 'wrong' })).status).toBe(400);
      const linked = await open({ code, verifier, password: PASSWORD });
      expect([linked.status, linked.body.user.id]).toEqual([200, id]);
    });

    it('can be finished once, by the browser that began it', async () => {
      const { back, cookie } = await comeBack(personAt({ email: newEmail() }), newVerifier());
      for (const sent of ['', cookie, cookie.replace(/.$/, '')])
        expect((await client.call('GET', back.pathname + back.search, { headers: { cookie: sent } })).status).toBe(400);
    });

    it('leaves no code or cookie in any log', () => {
      expect(codes.length).toBeGreaterThan(10);
      const { dataDir } = platform();
      const logs = globSync('**/*.log', { cwd: dataDir }).map((file) => readFileSync(`${dataDir}/${file}`, 'utf8'));
      expect(logs.length).toBeGreaterThan(0);
      for (const log of logs) for (const code of codes) expect(log).not.toContain(code);
    });
  });
}
