import { rateLimited } from '@taskmesh/contracts';
import { isPersonalToken } from '@taskmesh/identity';
import type { KeyValue } from '@taskmesh/key-value';
import { bearerToken, isLoopbackAddress, isLoopbackHost, isSameSecret, networkOf, siteOf } from '@taskmesh/service';
import { createHash } from 'node:crypto';
import type { IncomingMessage } from 'node:http';
import { headerValues } from '../http/client.ts';

/** Access tokens, whose headers are JSON. */
const JWT = /^eyJ[\w-]*\.[\w-]*\.[\w-]*$/;

export interface Operators {
  /**
   * Whether an operator asks. A wrong token counts as a guess.
   * @throws AppError RATE_LIMITED after too many wrong ones from this caller, even with the right one
   */
  check(request: IncomingMessage): Promise<OperatorCheck>;
  /**
   * The same where others ask, too: with a user's token, a caller is that user and nothing more, and any other token may be meant
   * for a service that is not ours. So no one is refused for wrong ones; but after too many, none makes an operator there.
   */
  isOperator(request: IncomingMessage): Promise<boolean>;
  /** Whether the caller is where an operator's token would count. */
  isInPlace(request: IncomingMessage): boolean;
}

export interface OperatorsDeps {
  rules: OperatorRules;
  keyValue: Pick<KeyValue, 'limiter'>;
  clientIp: (request: IncomingMessage) => string;
}

export function createOperators({ rules, keyValue, clientIp }: OperatorsDeps): Operators {
  const checkRules = createOperatorCheck(rules);
  const expected = rules.token ?? rules.machineToken;
  const refusedFor = limitTokenGuesses('operator', keyValue.limiter);
  const isOfUser = expected !== undefined && isOfUsersForm(expected) ? () => false : isOfUsersForm;

  const look = async (
    request: IncomingMessage,
  ): Promise<{ outcome: OperatorCheck; refusedForS?: number | undefined }> => {
    const outcome = checkRules(request);
    const given = bearerTokenOf(request);
    if (given === undefined || isOfUser(given)) return { outcome };
    // With any other outcome, the token has decided nothing.
    const isRight = outcome === 200 && expected !== undefined && bearsToken(request, expected);
    if (!isRight && outcome !== 401) return { outcome };
    const caller = siteOf(networkOf(clientIp(request)));
    return { outcome, refusedForS: await refusedFor({ caller, token: given }) };
  };

  return {
    async check(request) {
      const { outcome, refusedForS } = await look(request);
      if (refusedForS) throw rateLimited(refusedForS, 'Too many wrong tokens; try again later.');
      return outcome;
    },
    async isOperator(request) {
      const given = bearerTokenOf(request);
      if (given === undefined)
        return headerValues(request, 'authorization').length === 0 && checkRules(request) === 200;
      const isRight = expected !== undefined && bearsToken(request, expected);
      // Tokens of users, which arrive here all the time, are no guesses, even if the right one looks like them.
      if (expected === undefined || (isOfUsersForm(given) && !isRight)) return false;
      const { outcome, refusedForS } = await look(request);
      return !refusedForS && outcome === 200 && isRight;
    },
    isInPlace: (request) => checkRules(request) !== 403,
  };
}

function isOfUsersForm(token: string): boolean {
  return JWT.test(token) || isPersonalToken(token);
}

/** The status that a request of operators gets: 401 for what another token could change. */
export type OperatorCheck = 200 | 401 | 403;

export interface OperatorRules {
  /** What operators must send; undefined: being on this machine is enough. */
  token: string | undefined;
  /** Without `token`, makes operators of our own pages, too, when they are opened on this machine. */
  machineToken?: string | undefined;
}

/**
 * With a token, its holders are operators. Without one, requests from this machine are, unless they come from a web
 * page of another site or through a proxy: a developer's own client, and no one by accident.
 */
export function createOperatorCheck({
  token,
  machineToken,
}: OperatorRules): (request: IncomingMessage) => OperatorCheck {
  if (token !== undefined) return (request) => (bearsToken(request, token) ? 200 : 401);
  return (request) => {
    if (!isLocal(request)) return 403;
    const { origin, host = '' } = request.headers;
    if (origin === undefined) return 200;
    // A page. A browser reports the truth about its origin; the token proves who opened it.
    if (machineToken === undefined || origin !== `http://${host.toLowerCase()}`) return 403;
    return bearsToken(request, machineToken) ? 200 : 401;
  };
}

/** The token of the request's one `Authorization` header, if it has that form. */
function bearerTokenOf(request: IncomingMessage): string | undefined {
  const values = headerValues(request, 'authorization');
  return (values.length === 1 && bearerToken(values[0])) || undefined;
}

/** Whether the request's one `Authorization` header has this token; compares in constant time. */
function bearsToken(request: IncomingMessage, expected: string): boolean {
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

const GUESSES = 10;
const WINDOW_S = 15 * 60;

interface GivenToken {
  caller: string;
  token: string;
}

/**
 * Limits how many different tokens a caller may send. The right one counts like any other: otherwise, sent at once with many wrong ones,
 * it would be answered before those are counted.
 */
function limitTokenGuesses(name: string, makeLimiter: KeyValue['limiter']) {
  const guesses = makeLimiter({ name: `${name}.guesses`, points: GUESSES, windowSeconds: WINDOW_S });
  /** A program with an outdated token sends the same one again and again, and guesses nothing. */
  const known = makeLimiter({ name: `${name}.guess`, points: 1, windowSeconds: WINDOW_S });

  /** For how long this token is refused, in seconds. Not an error, which would cost more than the rest of a request. */
  return async ({ caller, token }: GivenToken): Promise<number | undefined> => {
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
