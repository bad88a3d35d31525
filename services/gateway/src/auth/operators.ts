import { rateLimited } from '@taskmesh/contracts';
import { isPersonalToken } from '@taskmesh/identity';
import type { KeyValue } from '@taskmesh/key-value';
import { networkOf } from '@taskmesh/service';
import type { IncomingMessage } from 'node:http';
import { headerValues } from '../http/header-values.ts';
import {
  bearerTokenOf,
  bearsToken,
  createOperatorCheck,
  type OperatorCheck,
  type OperatorRules,
} from './operator-check.ts';
import { limitTokenGuesses } from './token-guesses.ts';

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
   * for a service that is not ours. So nobody is refused for wrong ones; but after too many, none makes an operator there.
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
    const isRight = outcome.ok && expected !== undefined && bearsToken(request, expected);
    const isGuess = !outcome.ok && outcome.status === 401;
    if (!isRight && !isGuess) return { outcome };
    const caller = networkOf(clientIp(request));
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
      if (given === undefined) return headerValues(request, 'authorization').length === 0 && checkRules(request).ok;
      const isRight = expected !== undefined && bearsToken(request, expected);
      // Whatever the right one looks like: those of users, who ask here all the time, are no guesses.
      if (expected === undefined || (isOfUsersForm(given) && !isRight)) return false;
      const { outcome, refusedForS } = await look(request);
      return !refusedForS && outcome.ok && isRight;
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
