import type { AuthSignIn } from '@taskmesh/internal-api';
import { notFound } from '@taskmesh/errors';
import { publicEndpoint, userEndpoint, type Endpoint } from '../endpoint.ts';
import { OPERATIONS } from '../operations.ts';
import { checkedQuery, wholeQuery } from '../request/query.ts';
import { linkedIdentity, linkedIdentityList, messageOnly, session, signInProvider } from '../schemas/answers.ts';
import type { LinkedIdentityListBody, SignInProviderBody } from '../schemas/answers.ts';
import { beginSignIn, linkIdentity, signInAnswer, signInWithCode } from '../schemas/requests.ts';
import { linkedIdentityOf, sessionAnswer } from './nodes.ts';
import { said } from './said.ts';
import { createSignInCookie } from './sign-in-cookie.ts';

const UNLINKED = 'Nobody signs in with it any more.';

export interface ProviderEndpointsDeps {
  signIn: AuthSignIn;
  /** Its scheme decides how the cookie of a browser is guarded. */
  publicUrl: string;
}

/** Signing in at a provider: the way of the browser, and what comes of it. */
export function createProviderEndpoints({ signIn, publicUrl }: ProviderEndpointsDeps): readonly Endpoint[] {
  const cookie = createSignInCookie({ isSecure: publicUrl.startsWith('https:') });
  const goTo = (location: string, setCookie: string) => ({
    headers: { location, 'set-cookie': setCookie, 'cache-control': 'no-store', 'referrer-policy': 'no-referrer' },
    body: null,
  });

  return [
    publicEndpoint({
      method: 'GET',
      path: '/auth/oidc',
      name: 'signInProvider',
      summary: 'Where people may sign in without a password of theirs here',
      description: 'A 404 when there is no such provider.',
      needs: OPERATIONS.signInProvider,
      status: 200,
      answerSchema: signInProvider,
      errors: ['NOT_FOUND'],
      handle: async ({ run }) => {
        const { provider } = await run(OPERATIONS.signInProvider, {});
        if (!provider) throw notFound('Nobody signs in at a provider here.');
        const body: SignInProviderBody = { name: provider.name };
        return { body };
      },
    }),
    publicEndpoint({
      method: 'GET',
      path: '/auth/oidc/start',
      name: 'startSignIn',
      summary: 'Send a browser to the sign-in provider',
      description:
        'For the address of a page, not for a program. The browser comes back to `return_to` with `#sign_in_code=…`, which works once, ' +
        'for a minute, together with the secret that `code_challenge` was made of; or with `#sign_in_error=…` and ' +
        '`sign_in_error_description`. A cookie binds what was begun to this browser for 10 minutes.',
      needs: OPERATIONS.signInWithCode,
      query: checkedQuery(beginSignIn),
      status: 302,
      errors: ['NOT_FOUND', 'RATE_LIMITED'],
      handle: async ({ query: { return_to: returnTo, code_challenge: codeChallenge }, origin }) => {
        const { location, binding } = await signIn.begin({ returnTo, codeChallenge }, origin());
        return goTo(location, cookie.of(binding));
      },
    }),
    publicEndpoint({
      method: 'GET',
      path: '/auth/oidc/callback',
      name: 'finishSignIn',
      summary: 'Where the sign-in provider sends the browser back to',
      description: 'Goes on to where the sign-in began. A 400 when it was not begun in this browser, or is over.',
      needs: OPERATIONS.signInWithCode,
      query: wholeQuery(signInAnswer),
      status: 302,
      errors: ['NOT_FOUND', 'RATE_LIMITED'],
      handle: async ({ query: search, headers, origin }) => {
        const { location } = await signIn.complete({ binding: cookie.in(headers.cookie), search }, origin());
        return goTo(location, cookie.none);
      },
    }),
    publicEndpoint({
      method: 'POST',
      path: '/auth/oidc/session',
      name: 'signInWithCode',
      summary: 'Open a session with the code that the browser came back with',
      description:
        'Whoever is not known yet gets an account, when the provider has verified their address. When there is one with that address, ' +
        'the 409 LINK_REQUIRED asks for its password once: the code then works together with it, for 10 minutes.',
      needs: OPERATIONS.signInWithCode,
      bodySchema: signInWithCode,
      status: 200,
      answerSchema: session,
      errors: ['FORBIDDEN', 'LINK_REQUIRED', 'RATE_LIMITED'],
      handle: async ({ body: { refresh, ...input }, run }) =>
        sessionAnswer(await run(OPERATIONS.signInWithCode, { input, refresh })),
    }),
    userEndpoint({
      method: 'GET',
      path: '/auth/identities',
      name: 'listIdentities',
      summary: 'Who may sign in to your account at a provider',
      needs: OPERATIONS.linkedIdentities,
      status: 200,
      answerSchema: linkedIdentityList,
      handle: async ({ run }) => {
        const { identities } = await run(OPERATIONS.linkedIdentities, {});
        const body: LinkedIdentityListBody = { identities: identities.map(linkedIdentityOf) };
        return { body };
      },
    }),
    userEndpoint({
      method: 'POST',
      path: '/auth/identities',
      name: 'linkIdentity',
      summary: 'Link who has signed in at the provider to your account',
      description:
        'With the code that the browser came back with, and your password. The provider must have verified the address of the account. ' +
        'A mail tells it.',
      needs: OPERATIONS.linkIdentity,
      bodySchema: linkIdentity,
      status: 201,
      answerSchema: linkedIdentity,
      errors: ['CONFLICT', 'RATE_LIMITED'],
      handle: async ({ body, run }) => {
        const { identity } = await run(OPERATIONS.linkIdentity, { input: body });
        return { body: linkedIdentityOf(identity) };
      },
    }),
    userEndpoint({
      method: 'DELETE',
      path: '/auth/identities/{identity}',
      name: 'unlinkIdentity',
      summary: 'Take away a way to sign in',
      description: 'Never the last one: without a password, the only identity stays. A mail tells it. Needs a session.',
      needs: OPERATIONS.unlinkIdentity,
      status: 200,
      answerSchema: messageOnly,
      exampleMessage: UNLINKED,
      errors: ['NOT_FOUND', 'CONFLICT'],
      handle: async ({ id, run }) => {
        await run(OPERATIONS.unlinkIdentity, { id });
        return said(UNLINKED);
      },
    }),
  ];
}
