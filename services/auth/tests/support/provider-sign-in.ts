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

/** A provider that knows Ada, and the service, both new for each test, and what is done with them. */
export function useSignIn() {
  const provider = {} as SignInProvider; // complete when the tests begin
  beforeAll(async () => void Object.assign(provider, await startSignInProvider({ redirectUri: REDIRECT_URI })));
  beforeEach(() => {
    provider.tamper(undefined);
    provider.respondWith(undefined);
    provider.accounts.clear();
    provider.accounts.set('ada', ADA);
  });
  const running = useAuth(() => ({ env: settingsFor(provider) }));
  return { provider, running, ...createSignIns(running, provider) };
}

/** Sign-ins through this provider. */
export function createSignIns(running: Pick<RunningAuth, 'auth' | 'send'>, provider: SignInProvider) {
  const begin = (returnTo = '/') => running.auth.signIn.begin({ returnTo, codeChallenge: hashOf(VERIFIER) }, ORIGIN);
  const complete = (binding: string | undefined, { search }: Pick<URL, 'search'>) =>
    running.auth.signIn.complete({ binding, search: search.slice(1) }, ORIGIN);
  /** The result that the page gets when the browser is back. */
  const resultOf = async (binding: string, back: URL) => resultIn(await complete(binding, back));
  /** Begins a sign-in and follows it to the URL that the provider sends the browser back to. */
  const visit = async (sub = 'ada') => {
    const { location, binding } = await begin();
    const nonce = new URL(location).searchParams.get('nonce') ?? '';
    return { binding, nonce, back: await provider.signIn(location, sub) };
  };
  /** Follows the whole sign-in of a browser and returns the code that the page gets. */
  const codeFor = async (sub = 'ada') => {
    const { binding, back } = await visit(sub);
    const { sign_in_code: code, ...others } = await resultOf(binding, back);
    if (!code) throw new Error(JSON.stringify(others));
    return code;
  };
  const signInWith = (code: string, more: { verifier?: string; password?: string } = {}) =>
    running.send(SIGN_IN_WITH_CODE, { input: { code, verifier: VERIFIER, ...more } });
  /** A user who has signed in through the provider. */
  const signedIn = async (sub = 'ada') => personOf(await signInWith(await codeFor(sub)));
  return { begin, complete, resultOf, visit, codeFor, signInWith, signedIn };
}

export const resultIn = ({ location }: { location: string }): Record<string, string> =>
  Object.fromEntries(new URLSearchParams(location.slice(location.indexOf('#') + 1)));

export function personOf({ data, errors, extensions }: SubgraphResult) {
  if (errors) throw new Error(JSON.stringify(errors));
  const { user } = data?.signInWithCode as { user: { id: string; email: string } };
  const { sessionId } = extensions?.session as { sessionId: string };
  const identity: Identity = { role: 'user', userId: user.id, sessionId, ip: ORIGIN.ip };
  return { userId: user.id, email: user.email, identity };
}
