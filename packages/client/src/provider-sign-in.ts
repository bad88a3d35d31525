import { TaskmeshError } from './errors.ts';
import type { Storage } from './storage.ts';

/** The result with which the provider sends the browser back. */
export type SignInAnswer = { code: string } | { error: string; description: string };

const KEY = 'taskmesh.sign-in';
const VERIFIER_BYTES = 32;

/** Keeps the code verifier (PKCE) of the page that starts a sign-in. Without it, the returned code is useless. */
export function createProviderSignIn({ url, storage }: { url: string; storage: Storage }) {
  return {
    /** The address to navigate to. */
    async begin(returnTo: string): Promise<string> {
      const verifier = base64url(crypto.getRandomValues(new Uint8Array(VERIFIER_BYTES)));
      await storage.setItem(KEY, verifier);
      // `crypto.subtle` exists only over TLS and on localhost.
      const digest = await crypto.subtle.digest('SHA-256', new TextEncoder().encode(verifier));
      const query = new URLSearchParams({ return_to: returnTo, code_challenge: base64url(new Uint8Array(digest)) });
      return `${url}/api/auth/oidc/start?${query.toString()}`;
    },
    /** @throws TaskmeshError SIGN_IN_NOT_BEGUN if no sign-in was started here */
    async verifier(): Promise<string> {
      const verifier = await storage.getItem(KEY);
      if (verifier === null) throw new TaskmeshError('SIGN_IN_NOT_BEGUN', 'No sign-in was started here.');
      return verifier;
    },
    async forget(): Promise<void> {
      await storage.removeItem(KEY);
    },
  };
}

/** Parses the URL fragment after the return from the provider. Returns undefined if it has no sign-in result. */
export function readSignInAnswer(fragment: string): SignInAnswer | undefined {
  const params = new URLSearchParams(fragment.replace(/^#/, ''));
  const code = params.get('sign_in_code');
  if (code) return { code };
  const error = params.get('sign_in_error');
  return error ? { error, description: params.get('sign_in_error_description') ?? '' } : undefined;
}

function base64url(bytes: Uint8Array): string {
  return btoa(String.fromCharCode(...bytes))
    .replaceAll('+', '-')
    .replaceAll('/', '_')
    .replace(/=+$/, '');
}
