import { hash, verify } from '@node-rs/argon2';
import { unavailable } from '@taskmesh/errors';
import { randomBytes } from 'node:crypto';
import { createBoundedQueue, type BoundedQueue } from './bounded-queue.ts';

/** argon2id, OWASP's parameters: 19 MiB, two passes, one lane. (2 is `Algorithm.Argon2id`, a const enum.) */
const PARAMETERS = { algorithm: 2, memoryCost: 19_456, timeCost: 2, parallelism: 1 } as const;
const MAX_WAITING = 200;

export interface Hasher {
  /** @throws AppError SERVICE_UNAVAILABLE when too many wait already */
  hash(password: string): Promise<string>;
  /**
   * Without a hash (no such account) the password is checked against one that nothing matches: it takes as long.
   * @throws AppError SERVICE_UNAVAILABLE when too many wait already
   */
  verify(passwordHash: string | undefined, password: string): Promise<boolean>;
  /** How many passwords wait for their turn. */
  waiting(): number;
}

export interface HasherOptions {
  /** Hashes at once: each takes a thread of libuv's pool, about 15 ms of a core and 19 MiB. */
  concurrency: number;
  /** Told after each hash. */
  onHashed?: (seconds: number) => void;
}

/** Slow hashing on other threads, bounded, so that a flood of logins starves nobody else. */
export function createHasher({ concurrency, onHashed }: HasherOptions): Hasher {
  const queue = createBoundedQueue({ concurrency, maxWaiting: MAX_WAITING });
  // Made before the first login, so that not even that one tells whether an account exists.
  const nobodysHash = hash(randomBytes(32), PARAMETERS);

  const timed = async <Result>(work: () => Promise<Result>): Promise<Result> => {
    const start = performance.now();
    try {
      return await work();
    } finally {
      onHashed?.((performance.now() - start) / 1000);
    }
  };

  return {
    hash: (password) => inTurn(queue, () => timed(() => hash(normalized(password), PARAMETERS))),
    async verify(passwordHash, password) {
      const expected = passwordHash ?? (await nobodysHash);
      const matches = await inTurn(queue, () => timed(() => verify(expected, normalized(password))));
      return matches && passwordHash !== undefined;
    },
    waiting: () => queue.waiting(),
  };
}

/** Two ways to type one character are one password. */
function normalized(password: string): string {
  return password.normalize('NFKC');
}

async function inTurn<Result>(queue: BoundedQueue, work: () => Promise<Result>): Promise<Result> {
  const turn = queue.run(work);
  if (!turn) throw unavailable('Too many people are signing in right now; try again.');
  return turn;
}
