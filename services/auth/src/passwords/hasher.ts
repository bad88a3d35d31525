import { hash, verify } from '@node-rs/argon2';
import { unavailable } from '@taskmesh/errors';
import { createBulkhead } from '@taskmesh/service';
import { dummyHash, PARAMETERS } from './argon2-hash.ts';
import { dummyBcryptHash, isBcrypt, verifyBcrypt } from './bcrypt-hash.ts';

const MAX_WAITING = 200;
/** Later, callers have given up. */
const MAX_WAIT_MS = 10_000;

export interface Hasher {
  /** @throws AppError SERVICE_UNAVAILABLE when too many are waiting */
  hash(password: string): Promise<string>;
  /**
   * A refusal takes the same time without a hash (no such account), and whatever kind the hash is of: first argon2, then bcrypt as
   * long as any account has such a hash.
   * @throws AppError SERVICE_UNAVAILABLE when too many are waiting
   */
  verify(passwordHash: string | undefined, password: string): Promise<boolean>;
  waiting(): number;
}

export interface HasherOptions {
  /** argon2 hashes at once. Each occupies a thread of libuv's pool and a core for about 15 ms, and 19 MiB. */
  concurrency: number;
  /** The bcrypt hash of any account. @default no account has one */
  findBcryptHash?: () => Promise<string | undefined>;
  onHashed?: (seconds: number) => void;
}

/**
 * Slow hashing on libuv's threads, bounded, so that a flood of logins starves nothing else. bcrypt has a queue of its own: a hash of
 * another system may take a second, and every refusal needs one.
 */
export function createHasher({ concurrency, findBcryptHash, onHashed }: HasherOptions): Hasher {
  const concurrencies = { argon2: concurrency, bcrypt: Math.ceil(concurrency / 4) };
  const queue = createBulkhead<keyof typeof concurrencies>({
    concurrency: (kind) => concurrencies[kind],
    ...{ maxWaiting: MAX_WAITING, maxWaitMs: MAX_WAIT_MS, refusal: tooMany },
  });
  const dummy = dummyHash();

  const inTurn = <Result>(kind: keyof typeof concurrencies, work: () => Promise<Result>): Promise<Result> =>
    queue.run(kind, async () => {
      const start = performance.now();
      try {
        return await work();
      } finally {
        onHashed?.((performance.now() - start) / 1000);
      }
    });

  return {
    hash: (password) => inTurn('argon2', () => hash(normalizePassword(password), PARAMETERS)),
    async verify(passwordHash = dummy, password) {
      const own = isBcrypt(passwordHash) ? { bcrypt: passwordHash } : { argon2: passwordHash };
      if (await inTurn('argon2', () => verify(own.argon2 ?? dummy, normalizePassword(password)))) return true;
      const like = (await findBcryptHash?.()) ?? own.bcrypt;
      if (like === undefined) return false;
      return inTurn('bcrypt', () => verifyBcrypt(own.bcrypt ?? dummyBcryptHash(like), password));
    },
    waiting: queue.waiting,
  };
}

const tooMany = () => unavailable('Too many people are signing in right now; try again.');

/** Different encodings of a character give the same password. */
function normalizePassword(password: string): string {
  return password.normalize('NFKC');
}
