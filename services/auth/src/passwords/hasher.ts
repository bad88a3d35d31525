import { unavailable } from '@taskmesh/errors';
import { dummyHash } from './argon2-hash.ts';
import { createBoundedQueue, type BoundedQueue } from './bounded-queue.ts';
import { createHashThreadPool, type HashThreadPool } from './hash-thread-pool.ts';

const MAX_WAITING = 200;
/** How long `giveWay` has an effect. */
const GIVE_WAY_MS = 250;

export interface Hasher {
  /** @throws AppError SERVICE_UNAVAILABLE when too many are waiting */
  hash(password: string): Promise<string>;
  /**
   * Without a hash (no such account), checks against one that never matches, to take the same time.
   * @throws AppError SERVICE_UNAVAILABLE when too many are waiting
   */
  verify(passwordHash: string | undefined, password: string): Promise<boolean>;
  /** Others need the machine: for a moment, fewer passwords are hashed at once, and each slot rests after a hash. */
  giveWay(): void;
  waiting(): number;
  close(): Promise<void>;
}

export interface HasherOptions {
  /** Hashes at once, one less while others need the machine. Each needs a thread, about 15 ms of a core, and 19 MiB. */
  concurrency: number;
  onHashed?: (seconds: number) => void;
  /** @default threads of its own */
  threads?: HashThreadPool;
}

/** Slow hashing on threads of its own, bounded, so that a flood of logins starves nothing else. */
export function createHasher({ concurrency, onHashed, threads = createHashThreadPool() }: HasherOptions): Hasher {
  let othersUntilMs = 0;
  const othersWait = () => performance.now() < othersUntilMs;
  const queue = createBoundedQueue({ concurrency, maxWaiting: MAX_WAITING, othersWait });
  const dummy = dummyHash();

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
      const expected = passwordHash ?? dummy;
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

/** Different encodings of a character give the same password. */
function normalizePassword(password: string): string {
  return password.normalize('NFKC');
}

async function inTurn<Result>(queue: BoundedQueue, work: () => Promise<Result>): Promise<Result> {
  const turn = queue.run(work);
  if (!turn) throw unavailable('Too many people are signing in right now; try again.');
  return turn;
}
