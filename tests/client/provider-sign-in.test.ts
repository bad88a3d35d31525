import { createClient, createMemoryStorage, readSignInAnswer, type TaskmeshError } from '@taskmesh/client';
import { startSignInProvider } from '@taskmesh/testing/sign-in-provider';
import { randomUUID } from 'node:crypto';
import { useProduct } from '../product.ts';

const PUBLIC_URL = 'http://tasks.example';
const PASSWORD = 'a long and private phrase';
const provider = await startSignInProvider({ redirectUri: `${PUBLIC_URL}/api/auth/oidc/callback` });
const product = useProduct('start', () => ({
  ...{ PUBLIC_URL, OIDC_ISSUER: provider.issuer, OIDC_NAME: 'Example' },
  ...{ OIDC_CLIENT_ID: provider.clientId, OIDC_CLIENT_SECRET: provider.clientSecret },
}));

const newClient = (storage = createMemoryStorage()) => createClient({ url: product().url, storage });
const codeOf = (work: Promise<unknown>) => work.then(() => 'none').catch(({ code }: TaskmeshError) => code);

/** Follows the redirects as a browser does. Returns the fragment of the address on return. */
async function go(location: string, sub: string | null): Promise<string> {
  const begun = await fetch(location, { redirect: 'manual' });
  const cookie = /^[^;]+/.exec(begun.headers.get('set-cookie') ?? '')?.[0] ?? '';
  const { pathname, search } = await provider.signIn(begun.headers.get('location') ?? '', sub);
  const ended = await fetch(product().url + pathname + search, { redirect: 'manual', headers: { cookie } });
  return new URL(ended.headers.get('location') ?? '', product().url).hash;
}

function newPerson(email = `${randomUUID()}@example.com`) {
  const sub = randomUUID();
  provider.accounts.set(sub, { email, email_verified: true, name: 'Ada' });
  return { sub, email };
}

async function codeFor(client: ReturnType<typeof newClient>, sub: string): Promise<string> {
  const answer = readSignInAnswer(await go(await client.beginProviderSignIn('/'), sub));
  if (!answer || !('code' in answer)) throw new Error(JSON.stringify(answer));
  return answer.code;
}

it('signs in on the page after the redirect, which has the storage of the page before', async () => {
  const storage = createMemoryStorage();
  const { sub, email } = newPerson();
  const code = await codeFor(newClient(storage), sub);
  const client = newClient(storage);
  expect(await client.signInProvider()).toBe('Example');
  expect(await client.signInWithCode(code)).toMatchObject({ email, name: 'Ada' });
  expect(client.user()?.email).toBe(email);
  const { id } = await client.createTask({ title: 'Signed in elsewhere' });
  expect(id).toEqual(expect.any(String));
  client.close();
});

it('does not sign in on a page that did not begin the sign-in, or began another one', async () => {
  const { sub } = newPerson();
  const code = await codeFor(newClient(), sub);
  expect(await codeOf(newClient().signInWithCode(code))).toBe('SIGN_IN_NOT_BEGUN');
  const other = newClient();
  await other.beginProviderSignIn('/');
  expect(await codeOf(other.signInWithCode(code))).toBe('BAD_USER_INPUT');
  expect(other.user()).toBeNull();
});

it('links the provider to the signed-in user', async () => {
  const client = newClient();
  const { sub, email } = newPerson();
  await client.signUp({ email, password: PASSWORD, name: 'Ada' });
  const code = await codeFor(client, sub);
  expect(await client.linkIdentity(code, PASSWORD)).toMatchObject({ issuer: provider.issuer, email });
  client.close();
});

it('reports why the sign-in failed', async () => {
  const client = newClient();
  expect(readSignInAnswer(await go(await client.beginProviderSignIn(), null))).toEqual({
    error: 'access_denied',
    description: 'They would rather not.',
  });
  for (const fragment of ['', '#', '#view=tasks', '#sign_in_code=']) expect(readSignInAnswer(fragment)).toBeUndefined();
});
