import { bearerToken, isLoopbackAddress, isLoopbackHost, isSameSecret } from '@taskmesh/service';
import type { IncomingMessage } from 'node:http';
import { headerValues } from '../http/header-values.ts';

export type OperatorCheck = { ok: true } | { ok: false; status: 401 | 403 };

const OK: OperatorCheck = { ok: true };
const UNKNOWN: OperatorCheck = { ok: false, status: 401 };
const REFUSED: OperatorCheck = { ok: false, status: 403 };

export interface OperatorRules {
  /** What operators must send; undefined: being on this machine is enough. */
  token: string | undefined;
  /** Without `token`, makes operators of our own pages, too, when they are opened on this machine. */
  machineToken?: string | undefined;
}

/**
 * With a token, its holders are operators. Without one, requests from this machine are, unless they come from a web
 * page of another site or through a proxy: a developer's own client, and nobody by accident.
 */
export function createOperatorCheck({
  token,
  machineToken,
}: OperatorRules): (request: IncomingMessage) => OperatorCheck {
  if (token !== undefined) return (request) => (bearsToken(request, token) ? OK : UNKNOWN);
  return (request) => {
    if (!isLocal(request)) return REFUSED;
    const { origin, host = '' } = request.headers;
    if (origin === undefined) return OK;
    // A page. A browser tells the truth about its origin; the token proves who opened it.
    if (machineToken === undefined || origin !== `http://${host.toLowerCase()}`) return REFUSED;
    return bearsToken(request, machineToken) ? OK : UNKNOWN;
  };
}

/** The token of the request's one `Authorization` header, if it has that form. */
export function bearerTokenOf(request: IncomingMessage): string | undefined {
  const values = headerValues(request, 'authorization');
  return (values.length === 1 && bearerToken(values[0])) || undefined;
}

/** Whether the request's one `Authorization` header has this token; compares in constant time. */
export function bearsToken(request: IncomingMessage, expected: string): boolean {
  const token = bearerTokenOf(request);
  return token !== undefined && isSameSecret(token, expected);
}

/** A page whose own name resolves to this machine (DNS rebinding) cannot change the `Host` of its requests. */
function isLocal({ socket, headers }: IncomingMessage): boolean {
  return (
    isLoopbackAddress(socket.remoteAddress ?? '') &&
    isLoopbackHost(headers.host ?? '') &&
    !isOfAnotherSite(headers['sec-fetch-site']) &&
    !Object.keys(headers).some(tellsOfProxy)
  );
}

function isOfAnotherSite(site: string | string[] | undefined): boolean {
  return site !== undefined && site !== 'none' && site !== 'same-origin';
}

function tellsOfProxy(header: string): boolean {
  return header === 'forwarded' || header === 'via' || header === 'x-real-ip' || header.startsWith('x-forwarded-');
}
