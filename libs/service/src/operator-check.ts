import { timingSafeEqual } from 'node:crypto';
import type { IncomingMessage } from 'node:http';
import { isLoopbackAddress, isLoopbackHost } from './loopback.ts';

export type OperatorCheck = { ok: true } | { ok: false; status: 401 | 403 };

const BEARER = /^bearer +(\S+) *$/i;
const OK: OperatorCheck = { ok: true };

/**
 * With a token, its holders are operators. Without one, requests from this machine are, unless they come from a web
 * page of another site or through a proxy: a developer's own client, and nobody by accident.
 */
export function createOperatorCheck(operatorToken: string | undefined): (request: IncomingMessage) => OperatorCheck {
  if (operatorToken === undefined) return (request) => (isLocal(request) ? OK : { ok: false, status: 403 });
  const expected = Buffer.from(operatorToken);
  return (request) => {
    const values = authorizationOf(request);
    const token = values.length === 1 ? BEARER.exec(values[0] ?? '')?.[1] : undefined;
    return token !== undefined && isSame(Buffer.from(token), expected) ? OK : { ok: false, status: 401 };
  };
}

/** The values of all `Authorization` headers; Node shows only the first of repeated ones. */
export function authorizationOf(request: IncomingMessage): string[] {
  const { rawHeaders } = request;
  const values: string[] = [];
  for (let index = 0; index < rawHeaders.length; index += 2) {
    const name = rawHeaders[index];
    if (name?.length === 13 && name.toLowerCase() === 'authorization') values.push(rawHeaders[index + 1] ?? '');
  }
  return values;
}

/** A page whose own name resolves to this machine (DNS rebinding) cannot change the `Host` of its requests. */
function isLocal({ socket, headers }: IncomingMessage): boolean {
  return (
    isLoopbackAddress(socket.remoteAddress ?? '') &&
    isLoopbackHost(headers.host ?? '') &&
    !isOfAnotherSite(headers['sec-fetch-site']) &&
    !Object.keys(headers).some(tellsOfAnother)
  );
}

function isOfAnotherSite(site: string | string[] | undefined): boolean {
  return site !== undefined && site !== 'none' && site !== 'same-origin';
}

function tellsOfAnother(header: string): boolean {
  return (
    header === 'origin' ||
    header === 'forwarded' ||
    header === 'via' ||
    header === 'x-real-ip' ||
    header.startsWith('x-forwarded-')
  );
}

/** Takes the same time wherever they differ; it reveals only the token's length. */
function isSame(given: Buffer, expected: Buffer): boolean {
  return given.length === expected.length && timingSafeEqual(given, expected);
}
