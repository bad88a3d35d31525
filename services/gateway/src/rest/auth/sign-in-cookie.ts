import { parseCookie, stringifySetCookie } from 'cookie';

const MAX_AGE_S = 600;

/** Binds a sign-in at a provider to the browser that started it. */
export interface SignInCookie {
  /** The `Set-Cookie` value that sets it. */
  of(binding: string): string;
  /** The `Set-Cookie` value that deletes it. */
  none: string;
  /** Reads it from a `Cookie` header. */
  in(header: string | undefined): string | undefined;
}

/** Over TLS, no other host of the domain can set it. `Lax`, because the provider's redirect back must carry it. */
export function createSignInCookie({ isSecure }: { isSecure: boolean }): SignInCookie {
  const name = isSecure ? '__Host-taskmesh-sign-in' : 'taskmesh-sign-in';
  const set = (value: string, maxAge: number) =>
    stringifySetCookie({ name, value, maxAge, path: '/', httpOnly: true, sameSite: 'lax', secure: isSecure });
  return {
    of: (binding) => set(binding, MAX_AGE_S),
    none: set('', 0),
    in: (header) => (header === undefined ? undefined : parseCookie(header)[name]),
  };
}
