import { rateLimited } from '@taskmesh/errors';
import { isPersonalToken } from '@taskmesh/identity';
import type { KeyValue, LimiterResult } from '@taskmesh/key-value';
import {
  authorizationOf,
  bearerTokenOf,
  bearsToken,
  createOperatorCheck,
  networkOf,
  type OperatorCheck,
  type OperatorRules,
} from '@taskmesh/service';
import { createHash } from 'node:crypto';
import type { IncomingMessage } from 'node:http';

const GUESSES = 10;
const WINDOW_S = 15 * 60;
/** Access tokens, whose headers are JSON. */
const JWT = /^eyJ[\w-]*\.[\w-]*\.[\w-]*$/;

export interface Operators {
  /**
   * Whether an operator asks. A wrong token counts as a guess.
   * @throws AppError RATE_LIMITED after too many wrong ones from this caller, even with the right one
   */
  check(request: IncomingMessage): Promise<OperatorCheck>;
  /** The same where users ask, too: with a user's token, a caller is that user and nothing more. @throws AppError RATE_LIMITED */
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
  const guesses = keyValue.limiter({ name: 'operator.guesses', points: GUESSES, windowSeconds: WINDOW_S });
  /** A program with an outdated token sends the same one again and again, and guesses nothing. */
  const known = keyValue.limiter({ name: 'operator.guess', points: 1, windowSeconds: WINDOW_S });
  const isOfUser = expected !== undefined && isOfUsersForm(expected) ? () => false : isOfUsersForm;

  const check: Operators['check'] = async (request) => {
    const outcome = checkRules(request);
    const given = bearerTokenOf(request);
    if (given === undefined || isOfUser(given)) return outcome;
    // With any other outcome, the token has decided nothing.
    const isRight = outcome.ok && expected !== undefined && bearsToken(request, expected);
    const isGuess = !outcome.ok && outcome.status === 401;
    if (!isRight && !isGuess) return outcome;
    const caller = networkOf(clientIp(request));
    refuseWhenUsedUp(await guesses.peek(caller));
    if (isGuess && (await known.consume(hashOf(caller, given))).allowed)
      refuseWhenUsedUp(await guesses.consume(caller));
    return outcome;
  };

  return {
    check,
    async isOperator(request) {
      const given = bearerTokenOf(request);
      if (given === undefined) return authorizationOf(request).length === 0 && (await check(request)).ok;
      const isRight = expected !== undefined && bearsToken(request, expected);
      // Whatever the right one looks like: those of users, who ask here all the time, are no guesses.
      if (expected === undefined || (isOfUsersForm(given) && !isRight)) return false;
      return (await check(request)).ok && isRight;
    },
    isInPlace(request) {
      const outcome = checkRules(request);
      return outcome.ok || outcome.status !== 403;
    },
  };
}

function isOfUsersForm(token: string): boolean {
  return JWT.test(token) || isPersonalToken(token);
}

function hashOf(caller: string, token: string): string {
  return createHash('sha256')
    .update(JSON.stringify([caller, token]))
    .digest('base64url');
}

function refuseWhenUsedUp({ allowed, retryAfterSeconds }: LimiterResult): void {
  if (!allowed) throw rateLimited(Math.max(1, retryAfterSeconds), 'Too many wrong tokens; try again later.');
}
