const BEARER = /^bearer +(\S+) *$/i;

/** The token in an `Authorization` header; empty when it is not a bearer token. */
export function bearerToken(header: string | undefined): string {
  return BEARER.exec(header ?? '')?.[1] ?? '';
}
