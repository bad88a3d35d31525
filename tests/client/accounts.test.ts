import {
  createClient,
  createMemoryStorage,
  READ_PROFILE,
  readSignInAnswer,
  REQUEST_EMAIL_CHANGE,
  type Storage,
  type TaskmeshError,
} from '@taskmesh/client';
import { eventually } from '@taskmesh/testing';
import { setTimeout as sleep } from 'node:timers/promises';
import { type Account, createGraphql, makeBackup, newAccount, PASSWORD, restoreBackup } from '../http.ts';
import { mailedToken } from '../mails.ts';
import { useProduct } from '../product.ts';
import { createDevice, readList, shownBy, type Device, type Transport } from './device.ts';
import { startSignInProvider } from '@taskmesh/testing/sign-in-provider';
import { randomUUID } from 'node:crypto';

/** The lifetime of access tokens: anything longer needs a refresh. */
const TOKEN_S = 3;

const PUBLIC_URL = 'http://tasks.example';
const provider = await startSignInProvider({ redirectUri: `${PUBLIC_URL}/api/auth/oidc/callback` });
const product = useProduct('start', () => ({
  ...{ ACCESS_TOKEN_TTL_S: String(TOKEN_S), PUBLIC_URL, OIDC_ISSUER: provider.issuer, OIDC_NAME: 'Example' },
  ...{ OIDC_CLIENT_ID: provider.clientId, OIDC_CLIENT_SECRET: provider.clientSecret },
}));

const device = (transport?: Transport, storage?: Storage) => createDevice(product().url, transport, storage);

const isLive = ({ list }: Device) => eventually(() => expect(list.get().status).toBe('live'));
const signedUp = async (at: Device): Promise<Account> => {
  const account = newAccount();
  await at.client.signUp({ ...account, name: 'Ada' });
  await isLive(at);
  return account;
};
const codeOf = (write: Promise<unknown>) => write.then(() => 'none').catch(({ code }: TaskmeshError) => code);
const titlesOn = (at: Device) => shownBy(at).map(({ title }) => title);

const TRANSPORTS = ['graphql-ws', 'sse'] as const;

it('a list stays live when its token expires, and gets its next change with a fresh one', async () => {
  const staysLive = async (transport: Transport) => {
    const one = await device(transport);
    const account = await signedUp(one);
    const statuses = new Set<string>();
    const stop = one.list.subscribe(() => statuses.add(one.list.get().status));
    // The gateway ends a stream within ten seconds after its token expires.
    await eventually(() => expect(statuses).toContain('reconnecting'), { timeoutMs: (TOKEN_S + 12) * 1_000 });
    await isLive(one);
    stop();
    const other = await device(transport);
    await other.client.signIn(account);
    await other.client.createTask({ title: 'by a fresh token' });
    await eventually(() => expect(titlesOn(one)).toEqual(['by a fresh token']));
    expect(statuses).not.toContain('signed-out');
  };
  await Promise.all(TRANSPORTS.map(staysLive));
});

it('a list follows a restore: tasks created since the backup disappear', async () => {
  const signUpOver = async (transport: Transport) => {
    const one = await device(transport);
    return { one, account: await signedUp(one) };
  };
  const both = await Promise.all(TRANSPORTS.map(signUpOver));
  const create = (title: string) => Promise.all(both.map(({ one }) => one.client.createTask({ title })));
  await create('kept');
  const file = await makeBackup(product().url);
  await create('made since');
  for (const { one } of both) expect(shownBy(one)).toHaveLength(2);
  expect((await restoreBackup(product().url, file)).status).toBe(200);
  for (const { one } of both) await eventually(() => expect(titlesOn(one)).toEqual(['kept']));
  await create('made afterwards');
  for (const { one, account } of both) {
    expect(shownBy(one)).toEqual(await readList(product().url, account));
    await isLive(one);
  }
});

it('calls the REST API as the user, even after the token expired', async () => {
  const one = await device();
  await signedUp(one);
  await one.client.createTask({ title: 'exported' });
  await sleep(TOKEN_S * 1_000);
  const exported = (await (await one.client.fetch('/api/auth/export')).json()) as { tasks: { title: string }[] };
  expect(exported.tasks.map(({ title }) => title)).toEqual(['exported']);
  const issues = [{ path: 'priority', message: expect.stringContaining('priority must be one of') }];
  await expect(one.client.fetch('/api/tasks?priority=huge')).rejects.toMatchObject({ code: 'BAD_USER_INPUT', issues });
  expect(await codeOf(one.client.fetch('/api/nowhere'))).toBe('NOT_FOUND');
  await one.client.signOut();
  expect(await codeOf(one.client.fetch('/api/auth/export'))).toBe('SIGNED_OUT');
});

it('a new address is confirmed by the signed-in user, or with the password', async () => {
  const [one, stranger] = [await device(), await device()];
  const { password } = await signedUp(one);
  const ask = async () => {
    const { email } = newAccount();
    await one.client.request(REQUEST_EMAIL_CHANGE, { input: { email, password } });
    return { email, token: await mailedToken(product().dataDir, email, 'confirm-email') };
  };
  const emailOf = async () => (await one.client.request(READ_PROFILE, {})).me.email;
  const first = await ask();
  await one.client.confirmEmailChange(first.token);
  expect(await emailOf()).toBe(first.email);
  const second = await ask();
  expect(await codeOf(stranger.client.confirmEmailChange(second.token))).toBe('SIGNED_OUT');
  const issues = [{ path: 'password', message: 'The password is wrong.' }];
  const guessed = stranger.client.confirmEmailChange(second.token, 'a guess');
  await expect(guessed).rejects.toMatchObject({ code: 'BAD_USER_INPUT', issues });
  await stranger.client.confirmEmailChange(second.token, password);
  expect(await emailOf()).toBe(second.email);
});

it('a session that ended elsewhere empties the list, and writes are refused', async () => {
  const storage = createMemoryStorage();
  const one = await device('graphql-ws', storage);
  await signedUp(one);
  await one.client.createTask({ title: 'private' });
  const { accessToken } = JSON.parse((await storage.getItem('taskmesh.session')) ?? '{}') as { accessToken: string };
  await createGraphql(product().url)('mutation { logout }', { token: accessToken });
  await eventually(() => expect(one.list.get()).toMatchObject({ status: 'signed-out', tasks: [] }));
  expect(one.client.user()).toBeNull();
  expect(await codeOf(one.client.createTask({ title: 'refused' }))).toBe('SIGNED_OUT');
});

it('a write that the server refuses is rolled back', async () => {
  const one = await device();
  await signedUp(one);
  const task = await one.client.createTask({ title: 'as it was' });
  await one.client.updateTask(task.id, { title: 'by somebody else' });
  const late = one.client.updateTask(task.id, { title: 'too late' }, { ifVersion: task.version });
  expect(titlesOn(one)).toEqual(['too late']);
  expect(await codeOf(late)).toBe('PRECONDITION_FAILED');
  expect(titlesOn(one)).toEqual(['by somebody else']);
  expect(await codeOf(one.client.createTask({ title: 'no' }))).toBe('BAD_USER_INPUT');
  expect(shownBy(one)).toHaveLength(1);
});

const newClient = (storage = createMemoryStorage()) => createClient({ url: product().url, storage });

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
  expect((await client.createTask({ title: 'Signed in elsewhere' })).id).toEqual(expect.any(String));
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
  const answer = await go(await newClient().beginProviderSignIn(), null);
  const description = 'The user declined.';
  expect(readSignInAnswer(answer)).toEqual({ error: 'access_denied', description });
  for (const fragment of ['', '#', '#view=tasks', '#sign_in_code=']) expect(readSignInAnswer(fragment)).toBeUndefined();
});
