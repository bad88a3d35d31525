import { forbidden, notFound } from '@taskmesh/contracts';
import type { AuthSignIn } from '@taskmesh/internal-api';
import { parseCookie, stringifySetCookie } from 'cookie';
import { action, checkedQuery, type Endpoint, endpoint, type ErrorPage } from '../endpoint.ts';
import { OPERATIONS } from '../operations.ts';
import { linkedIdentity, linkedIdentityList, session, signInProvider } from '../schemas/responses.ts';
import { beginSignIn, linkIdentity, signInResult, signInWithCode } from '../schemas/requests.ts';

const ERRORS_AS_PAGE = 'Clients that accept `text/html` get errors as a web page.';

export interface ProviderEndpointsDeps {
  signIn: AuthSignIn;
  /** Its scheme decides whether the cookie is restricted to TLS. */
  publicUrl: string;
  errorPage: ErrorPage;
}

/** Signing in at a provider, and the identities that this links. */
export function createProviderEndpoints({ signIn, publicUrl, errorPage }: ProviderEndpointsDeps): readonly Endpoint[] {
  const cookie = signInCookie({ isSecure: publicUrl.startsWith('https:') });
  const goTo = (location: string, setCookie: string) => ({
    headers: { location, 'set-cookie': setCookie, 'referrer-policy': 'no-referrer' },
    body: null,
  });

  return [
    endpoint('public', 'GET /auth/oidc', {
      name: 'signInProvider',
      summary: 'The sign-in provider',
      description: '404 if none is configured.',
      needs: OPERATIONS.signInProvider,
      responseSchema: signInProvider,
      errors: ['NOT_FOUND'],
      handle: async ({ run }) => {
        const { provider } = await run(OPERATIONS.signInProvider, {});
        if (!provider) throw notFound('There is no provider to sign in at here.');
        return { body: provider };
      },
    }),
    endpoint('public', 'GET /auth/oidc/start', {
      name: 'startSignIn',
      summary: 'Send a browser to the sign-in provider',
      description:
        'Navigate a page here. The browser returns to `return_to`, either with `#sign_in_error=…` and `sign_in_error_description`, or with ' +
        '`#sign_in_code=…`. The code is valid once, with the secret that `code_challenge` was derived from: for a minute, or for 10 minutes ' +
        'with the password of the account to link. A cookie binds the sign-in to this browser for 10 minutes. Browsers on their way ' +
        `from another site get a 403. ${ERRORS_AS_PAGE}`,
      needs: OPERATIONS.signInWithCode,
      query: checkedQuery(beginSignIn),
      status: 302,
      errors: ['FORBIDDEN', 'NOT_FOUND'],
      errorPage,
      handle: async ({ query: { return_to: returnTo, code_challenge: codeChallenge }, raw, origin }) => {
        // Otherwise any page could replace a sign-in in progress, and use up the limit of its visitor's network.
        if (raw.headers['sec-fetch-site'] === 'cross-site')
          throw forbidden('A sign-in must start on a page of this site.');
        const { location, binding } = await signIn.begin({ returnTo, codeChallenge }, origin());
        return goTo(location, cookie.of(binding));
      },
    }),
    endpoint('public', 'GET /auth/oidc/callback', {
      name: 'finishSignIn',
      summary: 'Return from the sign-in provider',
      description:
        'Redirects to `return_to`. 400 if the sign-in was not started in this browser, has expired, or has already returned. ' +
        ERRORS_AS_PAGE,
      needs: OPERATIONS.signInWithCode,
      // auth reads it as the provider sent it.
      query: { schema: signInResult, read: ({ url }) => url.slice(url.indexOf('?') + 1 || url.length) },
      status: 302,
      errors: ['NOT_FOUND'],
      errorPage,
      handle: async ({ query: search, raw, origin }) => {
        const { location } = await signIn.complete({ binding: cookie.in(raw.headers.cookie), search }, origin());
        return goTo(location, cookie.none);
      },
    }),
    endpoint('public', 'POST /auth/oidc/session', {
      name: 'signInWithCode',
      summary: 'Exchange the code from the sign-in for a session',
      description:
        'A new identity gets an account if the provider has verified its address. If an account already has that address, the response ' +
        "is 409 LINK_REQUIRED: send the same code with the password of that account, within 10 minutes of the browser's return, to link the two.",
      needs: OPERATIONS.signInWithCode,
      bodySchema: signInWithCode,
      responseSchema: session,
      errors: ['FORBIDDEN', 'LINK_REQUIRED'],
      handle: async ({ body: { refresh, ...input }, run }) => ({
        body: (await run(OPERATIONS.signInWithCode, { input, refresh })).session,
      }),
    }),
    endpoint('user', 'GET /auth/identities', {
      name: 'listIdentities',
      summary: 'Your linked identities',
      description: 'The identities at the provider that can sign in to your account, newest first.',
      needs: OPERATIONS.linkedIdentities,
      responseSchema: linkedIdentityList,
      handle: async ({ run }) => ({ body: await run(OPERATIONS.linkedIdentities, {}) }),
    }),
    endpoint('user', 'POST /auth/identities', {
      name: 'linkIdentity',
      summary: 'Link an identity to your account',
      description:
        'Requires your password and a code with which the browser returned in the last 10 minutes. The provider must have verified the ' +
        'address of your account. Sends a notice by mail.',
      needs: OPERATIONS.linkIdentity,
      bodySchema: linkIdentity,
      status: 201,
      responseSchema: linkedIdentity,
      errors: ['CONFLICT'],
      handle: async ({ body, run }) => ({ body: (await run(OPERATIONS.linkIdentity, { input: body })).identity }),
    }),
    action('user', 'DELETE /auth/identities/{identityId}', {
      name: 'unlinkIdentity',
      summary: 'Remove a linked identity',
      description:
        'Sends a notice by mail. Requires a session. Sessions that the identity opened continue. The only identity of an account without a password cannot be removed.',
      needs: OPERATIONS.unlinkIdentity,
      message: 'The identity is no longer linked.',
      errors: ['NOT_FOUND', 'CONFLICT'],
      handle: ({ id, run }) => run(OPERATIONS.unlinkIdentity, { id }),
    }),
  ];
}

const MAX_AGE_S = 600;

/**
 * The cookie that binds a sign-in at a provider to the browser that started it. Over TLS, no other host of the domain can
 * set it. `Lax`, because the provider's redirect back must carry it.
 */
function signInCookie({ isSecure }: { isSecure: boolean }) {
  const name = isSecure ? '__Host-taskmesh-sign-in' : 'taskmesh-sign-in';
  const set = (value: string, maxAge: number) =>
    stringifySetCookie({ name, value, maxAge, path: '/', httpOnly: true, sameSite: 'lax', secure: isSecure });
  return {
    of: (binding: string) => set(binding, MAX_AGE_S),
    none: set('', 0),
    in: (header: string | undefined) => (header === undefined ? undefined : parseCookie(header)[name]),
  };
}
