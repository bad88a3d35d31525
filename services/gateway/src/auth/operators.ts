import { rateLimited } from '@taskmesh/contracts';
import { isPersonalToken } from '@taskmesh/identity';
import type { KeyValue } from '@taskmesh/key-value';
import { bearerToken, isLoopbackAddress, isLoopbackHost, isSameSecret, networkOf, siteOf } from '@taskmesh/service';
import { createHash } from 'node:crypto';
import type { IncomingMessage } from 'node:http';
import { headerValues, isOfAnotherSite } from '../http/client.ts';

/** The form of access tokens: the header of a JWT is JSON, so its Base64 begins with `eyJ`. */
const JWT = /^eyJ[\w-]*\.[\w-]*\.[\w-]*$/;

export type Operators = ReturnType<typeof createOperators>;

export interface OperatorsDeps {
  rules: OperatorRules;
  keyValue: Pick<KeyValue, 'limiter'>;
  clientIp: (request: IncomingMessage) => string;
}

export function createOperators({ rules, keyValue, clientIp }: OperatorsDeps) {
  const checkRules = createOperatorCheck(rules);
  const expected = rules.token ?? rules.machineToken;
  const refusedFor = limitTokenGuesses('operator', keyValue.limiter);
  const isOfUser = expected !== undefined && looksLikeUserToken(expected) ? () => false : looksLikeUserToken;

  const examine = async (
    request: IncomingMessage,
  ): Promise<{ outcome: OperatorCheck; refusedForS?: number | undefined }> => {
    const outcome = checkRules(request);
    const given = bearerTokenOf(request);
    if (given === undefined || isOfUser(given)) return { outcome };
    // For any other outcome, the token made no difference.
    const isRight = outcome === 200 && expected !== undefined && bearsToken(request, expected);
    if (!isRight && outcome !== 401) return { outcome };
    const caller = siteOf(networkOf(clientIp(request)));
    return { outcome, refusedForS: await refusedFor({ caller, token: given }) };
  };

  return {
    /**
     * Checks whether the caller is an operator. A wrong token counts as a guess.
     * @throws AppError RATE_LIMITED after too many wrong tokens from this caller, even for the right one
     */
    async check(request: IncomingMessage) {
      const { outcome, refusedForS } = await examine(request);
      if (refusedForS) throw rateLimited(refusedForS, 'Too many wrong tokens; try again later.');
      return outcome;
    },
    /**
     * The same for endpoints that users call as well. A user's token identifies that user only, and any other token may be meant
     * for a service that is not ours, so wrong tokens are not refused here; but after too many, the right one does not count either.
     */
    async isOperator(request: IncomingMessage) {
      const given = bearerTokenOf(request);
      if (given === undefined)
        return headerValues(request, 'authorization').length === 0 && checkRules(request) === 200;
      const isRight = expected !== undefined && bearsToken(request, expected);
      // Users' tokens arrive here all the time and do not count as guesses, even if the operators' token has their form.
      if (expected === undefined || (looksLikeUserToken(given) && !isRight)) return false;
      const { outcome, refusedForS } = await examine(request);
      return !refusedForS && outcome === 200 && isRight;
    },
    /** Whether the request comes from a place where an operator's token would be accepted. */
    isAllowedOrigin: (request: IncomingMessage) => checkRules(request) !== 403,
  };
}

function looksLikeUserToken(token: string): boolean {
  return JWT.test(token) || isPersonalToken(token);
}

/** The status for an operator's request: 401 if another token would help, 403 if none would. */
export type OperatorCheck = 200 | 401 | 403;

export interface OperatorRules {
  /** The token that operators must send. If undefined, calling from this machine is enough. */
  token: string | undefined;
  /** Without `token`: also admits our own pages that are opened on this machine and send this token. */
  machineToken?: string | undefined;
}

/**
 * With a token, its holders are operators. Without one, requests from this machine are, unless they come from a web
 * page of another site or through a proxy. This admits a developer's own client, and no one by accident.
 */
export function createOperatorCheck({ token, machineToken }: OperatorRules) {
  return (request: IncomingMessage): OperatorCheck => {
    if (token !== undefined) return bearsToken(request, token) ? 200 : 401;
    if (!isLocal(request)) return 403;
    const { origin, host = '' } = request.headers;
    if (origin === undefined) return 200;
    // The caller is a web page. Browsers report its origin truthfully; the token proves who opened it.
    if (machineToken === undefined || origin !== `http://${host.toLowerCase()}`) return 403;
    return bearsToken(request, machineToken) ? 200 : 401;
  };
}

/** The bearer token of the request's only `Authorization` header, if there is one. */
function bearerTokenOf(request: IncomingMessage): string | undefined {
  const values = headerValues(request, 'authorization');
  return (values.length === 1 && bearerToken(values[0])) || undefined;
}

/** Whether the request's only `Authorization` header has this token. Compares in constant time. */
function bearsToken(request: IncomingMessage, expected: string): boolean {
  const token = bearerTokenOf(request);
  return token !== undefined && isSameSecret(token, expected);
}

/** A page whose host name resolves to this machine (DNS rebinding) cannot change the `Host` of its requests. */
function isLocal({ socket, headers }: IncomingMessage): boolean {
  return (
    isLoopbackAddress(socket.remoteAddress ?? '') &&
    isLoopbackHost(headers.host ?? '') &&
    !isOfAnotherSite(headers) &&
    !Object.keys(headers).some(isProxyHeader)
  );
}

function isProxyHeader(header: string): boolean {
  return header === 'forwarded' || header === 'via' || header === 'x-real-ip' || header.startsWith('x-forwarded-');
}

const GUESSES = 10;
const WINDOW_S = 15 * 60;

/**
 * Limits how many different tokens a caller may send. The right one counts as well: otherwise, sent together with many wrong
 * ones, it would be accepted before those are counted.
 */
function limitTokenGuesses(name: string, makeLimiter: KeyValue['limiter']) {
  const guesses = makeLimiter({ name: `${name}.guesses`, points: GUESSES, windowSeconds: WINDOW_S });
  /** Counts each token once: a program that repeats an outdated token is not guessing. */
  const known = makeLimiter({ name: `${name}.guess`, points: 1, windowSeconds: WINDOW_S });

  /** Returns for how many seconds this token is refused. Throwing would cost more than the rest of the request. */
  return async ({ caller, token }: { caller: string; token: string }): Promise<number | undefined> => {
    const before = await guesses.peek(caller);
    if (!before.allowed) return secondsOf(before);
    if (!(await known.consume(hashOf(caller, token))).allowed) return undefined;
    const after = await guesses.consume(caller);
    return after.allowed ? undefined : secondsOf(after);
  };
}

const secondsOf = ({ retryAfterSeconds }: { retryAfterSeconds: number }) => Math.max(1, retryAfterSeconds);

function hashOf(caller: string, token: string): string {
  return createHash('sha256')
    .update(JSON.stringify([caller, token]))
    .digest('base64url');
}
