import { TaskmeshError } from './errors.ts';
import type { Storage } from './storage.ts';

/** What a browser comes back with from the sign-in provider. */
export type SignInAnswer = { code: string } | { error: string; description: string };

const KEY = 'taskmesh.sign-in';
const VERIFIER_BYTES = 32;

/** The secret of the page that sends somebody to the provider: without it, the code that they come back with opens nothing. */
export interface ProviderSignIn {
  /** Where the page goes to. */
  begin(returnTo: string): Promise<string>;
  /** @throws TaskmeshError SIGN_IN_NOT_BEGUN when nothing here began a sign-in */
  verifier(): Promise<string>;
  forget(): Promise<void>;
}

export function createProviderSignIn({ url, storage }: { url: string; storage: Storage }): ProviderSignIn {
  return {
    async begin(returnTo) {
      const verifier = base64url(crypto.getRandomValues(new Uint8Array(VERIFIER_BYTES)));
      await storage.setItem(KEY, verifier);
      // Browsers have it over TLS and on the same machine only, as providers have their answers.
      const digest = await crypto.subtle.digest('SHA-256', new TextEncoder().encode(verifier));
      const query = new URLSearchParams({ return_to: returnTo, code_challenge: base64url(new Uint8Array(digest)) });
      return `${url}/api/auth/oidc/start?${query.toString()}`;
    },
    async verifier() {
      const verifier = await storage.getItem(KEY);
      if (verifier === null) throw new TaskmeshError('SIGN_IN_NOT_BEGUN', 'This page began no sign-in at a provider.');
      return verifier;
    },
    async forget() {
      await storage.removeItem(KEY);
    },
  };
}

/** What stands behind `#` in the address, when somebody has come back from the provider. */
export function readSignInAnswer(fragment: string): SignInAnswer | undefined {
  const answer = new URLSearchParams(fragment.replace(/^#/, ''));
  const code = answer.get('sign_in_code');
  if (code) return { code };
  const error = answer.get('sign_in_error');
  return error ? { error, description: answer.get('sign_in_error_description') ?? '' } : undefined;
}

function base64url(bytes: Uint8Array): string {
  return btoa(String.fromCharCode(...bytes))
    .replaceAll('+', '-')
    .replaceAll('/', '_')
    .replace(/=+$/, '');
}
