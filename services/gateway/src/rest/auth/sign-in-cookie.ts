import { parseCookie, stringifySetCookie } from 'cookie';

const MAX_AGE_S = 600;

/** What binds a sign-in at a provider to the browser that began it. */
export interface SignInCookie {
  /** A `Set-Cookie`. */
  of(binding: string): string;
  /** A `Set-Cookie` that takes it away. */
  none: string;
  /** What a `Cookie` header has of it. */
  in(header: string | undefined): string | undefined;
}

/** Over TLS no other host of the domain can set it. It comes along when the provider sends the browser back, and with nothing that other sites load. */
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
