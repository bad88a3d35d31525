import { createSignInCookie } from './provider.ts';

describe('the cookie of a sign-in', () => {
  it('is for this host and this browser only', () => {
    expect(createSignInCookie({ isSecure: true }).of('a.b')).toBe(
      '__Host-taskmesh-sign-in=a.b; Max-Age=600; Path=/; HttpOnly; Secure; SameSite=Lax',
    );
    expect(createSignInCookie({ isSecure: false }).of('a.b')).toBe(
      'taskmesh-sign-in=a.b; Max-Age=600; Path=/; HttpOnly; SameSite=Lax',
    );
  });

  it('can carry nothing into the header that is not a value', () => {
    const { of } = createSignInCookie({ isSecure: true });
    expect(of('a\r\nSet-Cookie: b=c; Domain=x')).toMatch(/^__Host-taskmesh-sign-in=[\w.%-]+; Max-Age=600;/);
  });

  it('is found among others, and not under a name that only begins like it', () => {
    const cookie = createSignInCookie({ isSecure: true });
    expect(cookie.in('x=1; __Host-taskmesh-sign-in=a.b; y=2')).toBe('a.b');
    for (const header of [undefined, '', 'taskmesh-sign-in=a.b', '__Host-taskmesh-sign-in2=a.b', ';;=;'])
      expect(cookie.in(header)).toBeUndefined();
  });
});
