import { unavailable } from '@taskmesh/errors';
import { hashOfNobody } from './argon2-hash.ts';
import { createBoundedQueue, type BoundedQueue } from './bounded-queue.ts';
import { createHashThreadPool, type HashThreadPool } from './hash-thread-pool.ts';

const MAX_WAITING = 200;
/** So long after each word of them others count as waiting. */
const GIVE_WAY_MS = 250;

export interface Hasher {
  /** @throws AppError SERVICE_UNAVAILABLE when too many wait already */
  hash(password: string): Promise<string>;
  /**
   * Without a hash (no such account) the password is checked against one that nothing matches: it takes as long.
   * @throws AppError SERVICE_UNAVAILABLE when too many wait already
   */
  verify(passwordHash: string | undefined, password: string): Promise<boolean>;
  /** Others wait for the machine: for a moment, less is hashed at once, and each place rests after a hash. */
  giveWay(): void;
  /** How many passwords wait for their turn. */
  waiting(): number;
  /** Ends the threads. */
  close(): Promise<void>;
}

export interface HasherOptions {
  /** Hashes at once, beside others one less: each takes a thread of its own, about 15 ms of a core and 19 MiB. */
  concurrency: number;
  /** Told after each hash. */
  onHashed?: (seconds: number) => void;
  /** @default threads of its own */
  threads?: HashThreadPool;
}

/** Slow hashing on threads of its own, bounded, so that a flood of logins starves nobody else. */
export function createHasher({ concurrency, onHashed, threads = createHashThreadPool() }: HasherOptions): Hasher {
  let othersUntilMs = 0;
  const othersWait = () => performance.now() < othersUntilMs;
  const queue = createBoundedQueue({ concurrency, maxWaiting: MAX_WAITING, othersWait });
  const nobodysHash = hashOfNobody();

  const observeDuration = async <Result>(work: () => Promise<Result>): Promise<Result> => {
    const start = performance.now();
    try {
      return await work();
    } finally {
      onHashed?.((performance.now() - start) / 1000);
    }
  };

  return {
    hash: (password) => inTurn(queue, () => observeDuration(() => threads.hash(normalizePassword(password)))),
    async verify(passwordHash, password) {
      const expected = passwordHash ?? nobodysHash;
      const matches = await inTurn(queue, () =>
        observeDuration(() => threads.verify(expected, normalizePassword(password))),
      );
      return matches && passwordHash !== undefined;
    },
    giveWay: () => void (othersUntilMs = performance.now() + GIVE_WAY_MS),
    waiting: () => queue.waiting(),
    close: () => threads.close(),
  };
}

/** Two ways to type one character are one password. */
function normalizePassword(password: string): string {
  return password.normalize('NFKC');
}

async function inTurn<Result>(queue: BoundedQueue, work: () => Promise<Result>): Promise<Result> {
  const turn = queue.run(work);
  if (!turn) throw unavailable('Too many people are signing in right now; try again.');
  return turn;
}
