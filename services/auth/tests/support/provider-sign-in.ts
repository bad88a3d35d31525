import type { Identity } from '@taskmesh/identity';
import type { SubgraphResult } from '@taskmesh/subgraph';
import { startSignInProvider, type SignInProvider } from '@taskmesh/testing/sign-in-provider';
import { hashOf } from '../../src/opaque-token.ts';
import { useAuth, type RunningAuth } from './running-auth.ts';

const PUBLIC_URL = 'http://localhost:4000';
export const REDIRECT_URI = `${PUBLIC_URL}/api/auth/oidc/callback`;

const SIGN_IN_WITH_CODE = `mutation ($input: SignInWithCodeInput!) {
  signInWithCode(input: $input) { accessToken refreshToken user { id email name } }
}`;
export const LINK_IDENTITY = `mutation ($input: LinkIdentityInput!) { linkIdentity(input: $input) { id issuer email } }`;
export const UNLINK_IDENTITY = 'mutation ($id: ID!) { unlinkIdentity(id: $id) }';
export const LINKED_IDENTITIES = '{ linkedIdentities { id issuer email createdAt lastUsedAt } }';

/** The user of the provider in most tests. */
export const ADA = { email: 'ada@example.com', email_verified: true, name: 'Ada' };

/** The secret of the page that begins a sign-in. */
export const VERIFIER = 'a-secret-of-the-page-that-is-43-characters-long';
const ORIGIN = { ip: '192.0.2.1', client: 'a browser', requestId: 'request-1' };

/** Settings that configure a provider. */
export const settingsFor = ({ issuer, clientId, clientSecret }: SignInProvider) => ({
  ...{ OIDC_ISSUER: issuer, OIDC_CLIENT_ID: clientId, OIDC_CLIENT_SECRET: clientSecret, OIDC_NAME: 'Example' },
  PUBLIC_URL,
  RATE_LIMIT_FACTOR: '0',
});

/** A provider that knows Ada, and the service, both new for each test. */
export function useSignIn(): { provider: SignInProvider; running: RunningAuth } {
  const provider = {} as SignInProvider; // complete when the tests begin
  beforeAll(async () => void Object.assign(provider, await startSignInProvider({ redirectUri: REDIRECT_URI })));
  beforeEach(() => {
    provider.tamper(undefined);
    provider.respondWith(undefined);
    provider.accounts.clear();
    provider.accounts.set('ada', ADA);
  });
  const running = useAuth(() => ({ env: settingsFor(provider) }));
  return { provider, running };
}

export const begin = ({ auth }: RunningAuth, returnTo = '/') =>
  auth.signIn.begin({ returnTo, codeChallenge: hashOf(VERIFIER) }, ORIGIN);

export const complete = ({ auth }: RunningAuth, binding: string | undefined, { search }: Pick<URL, 'search'>) =>
  auth.signIn.complete({ binding, search: search.slice(1) }, ORIGIN);

/** The result that the page gets when the browser is back. */
export const resultIn = ({ location }: { location: string }) =>
  new URLSearchParams(location.slice(location.indexOf('#') + 1));

/** Begins a sign-in and follows it to the URL that the provider sends the browser back to. */
export async function visit(running: RunningAuth, provider: SignInProvider, sub = 'ada') {
  const { location, binding } = await begin(running);
  const nonce = new URL(location).searchParams.get('nonce') ?? '';
  return { binding, nonce, back: await provider.signIn(location, sub) };
}

/** Follows the whole sign-in of a browser and returns the code that the page gets. */
export async function codeFor(running: RunningAuth, provider: SignInProvider, sub: string): Promise<string> {
  const { binding, back } = await visit(running, provider, sub);
  const answer = resultIn(await complete(running, binding, back));
  const code = answer.get('sign_in_code');
  if (!code) throw new Error(answer.toString());
  return code;
}

export const signInWith = (running: RunningAuth, code: string, more: { verifier?: string; password?: string } = {}) =>
  running.send(SIGN_IN_WITH_CODE, { input: { code, verifier: VERIFIER, ...more } });

export interface Person {
  userId: string;
  email: string;
  identity: Identity;
}

export function personOf({ data, errors, extensions }: SubgraphResult): Person {
  if (errors) throw new Error(JSON.stringify(errors));
  const { user } = data?.['signInWithCode'] as { user: { id: string; email: string } };
  const { sessionId } = extensions?.session as { sessionId: string };
  return { userId: user.id, email: user.email, identity: { role: 'user', userId: user.id, sessionId, ip: ORIGIN.ip } };
}

/** A user who has signed in through the provider. */
export async function signedIn(running: RunningAuth, provider: SignInProvider, sub: string): Promise<Person> {
  return personOf(await signInWith(running, await codeFor(running, provider, sub)));
}
