import type { SignInSecrets } from './provider.ts';

const PARTS = /^([\w-]{43})\.([\w-]{43})\.([\w-]{43})$/;

/** The value of the cookie that the browser keeps in between. */
export function bindingOf({ state, nonce, verifier }: SignInSecrets): string {
  return [state, nonce, verifier].join('.');
}

export function secretsIn(binding: string): SignInSecrets | undefined {
  const [, state, nonce, verifier] = PARTS.exec(binding) ?? [];
  return state && nonce && verifier ? { state, nonce, verifier } : undefined;
}
