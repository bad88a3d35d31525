const BEARER = /^bearer +(\S+) *$/i;

/** What an `Authorization` header carries; empty when that is no bearer token. */
export function bearerToken(header: string | undefined): string {
  return BEARER.exec(header ?? '')?.[1] ?? '';
}
