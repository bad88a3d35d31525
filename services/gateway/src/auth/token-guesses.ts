import type { KeyValue } from '@taskmesh/key-value';
import { createHash } from 'node:crypto';

const GUESSES = 10;
const WINDOW_S = 15 * 60;

interface GivenToken {
  caller: string;
  token: string;
}

/**
 * Limits how many different tokens a caller may send. The right one counts like any other: otherwise, sent at once with many wrong ones,
 * it would be told before those are counted.
 */
export function limitTokenGuesses(name: string, makeLimiter: KeyValue['limiter']) {
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
