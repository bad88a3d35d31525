import { hash, verify } from '@node-rs/argon2';
import { unavailable } from '@taskmesh/errors';
import { dummyHash, PARAMETERS } from './argon2-hash.ts';
import { dummyBcryptHash, isBcrypt, verifyBcrypt } from './bcrypt-hash.ts';
import { createBoundedQueue } from './bounded-queue.ts';

const MAX_WAITING = 200;
/** Later, callers have given up. */
const MAX_WAIT_MS = 10_000;

export interface Hasher {
  /** @throws AppError SERVICE_UNAVAILABLE when too many are waiting */
  hash(password: string): Promise<string>;
  /**
   * Without a hash (no such account), checks against one that never matches, to take the same time.
   * @throws AppError SERVICE_UNAVAILABLE when too many are waiting
   */
  verify(passwordHash: string | undefined, password: string): Promise<boolean>;
  /**
   * Verifies, in vain, a hash of the other kind than `passwordHash`: where accounts have bcrypt hashes like `bcryptHash`, refusals
   * take the same time whether or not an account exists, and of which kind its hash is.
   */
  verifyOtherKind(passwordHash: string | undefined, bcryptHash: string, password: string): Promise<unknown>;
  waiting(): number;
}

export interface HasherOptions {
  /** Hashes at once. Each occupies a thread of libuv's pool and a core for about 15 ms, and 19 MiB. */
  concurrency: number;
  onHashed?: (seconds: number) => void;
}

/** Slow hashing on libuv's threads, bounded, so that a flood of logins starves nothing else. */
export function createHasher({ concurrency, onHashed }: HasherOptions): Hasher {
  const queue = createBoundedQueue({ concurrency, maxWaiting: MAX_WAITING });
  const dummy = dummyHash();

  const inTurn = async <Result>(work: () => Promise<Result>): Promise<Result> => {
    const queuedAt = performance.now();
    const turn = queue.run(async () => {
      const start = performance.now();
      if (start - queuedAt > MAX_WAIT_MS) throw tooMany();
      try {
        return await work();
      } finally {
        onHashed?.((performance.now() - start) / 1000);
      }
    });
    if (!turn) throw tooMany();
    return turn;
  };

  const verifyAny = (passwordHash: string, password: string): Promise<boolean> =>
    inTurn(() =>
      isBcrypt(passwordHash) ? verifyBcrypt(passwordHash, password) : verify(passwordHash, normalizePassword(password)),
    );

  return {
    hash: (password) => inTurn(() => hash(normalizePassword(password), PARAMETERS)),
    async verify(passwordHash, password) {
      const matches = await verifyAny(passwordHash ?? dummy, password);
      return matches && passwordHash !== undefined;
    },
    verifyOtherKind: (passwordHash = dummy, bcryptHash, password) =>
      verifyAny(isBcrypt(passwordHash) ? dummy : dummyBcryptHash(bcryptHash), password),
    waiting: () => queue.waiting(),
  };
}

const tooMany = () => unavailable('Too many people are signing in right now; try again.');

/** Different encodings of a character give the same password. */
function normalizePassword(password: string): string {
  return password.normalize('NFKC');
}
