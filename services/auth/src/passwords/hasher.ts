import { randomBytes } from 'node:crypto';
import { compare } from 'bcrypt';
import { hash, verify } from '@node-rs/argon2';
import { unavailable } from '@taskmesh/contracts';
import { createFairQueue, type FairQueue } from '@taskmesh/service';
import { callerOf } from '../rate-limits.ts';

export interface HashCost {
  /** KiB */
  memoryCost: number;
  timeCost: number;
}

/** OWASP's parameters for argon2id with one lane: 19 MiB, two passes. */
export const COST: HashCost = { memoryCost: 19_456, timeCost: 2 };
/** 2 is `Algorithm.Argon2id`, a const enum. */
const ARGON2ID = { algorithm: 2, parallelism: 1 } as const;

/** What hashes with these parameters begin with. */
export const prefixOf = ({ memoryCost, timeCost }: HashCost) => `$argon2id$v=19$m=${memoryCost},t=${timeCost},p=1$`;

/** A random hash that no password is known to match, and that takes as long to verify as any. */
export function dummyHash(cost = COST): string {
  const random = (bytes: number) => randomBytes(bytes).toString('base64').replaceAll('=', '');
  return `${prefixOf(cost)}${random(16)}$${random(32)}`;
}

/** Matches hashes of cost 4 to 12. The pattern is also valid in PostgreSQL. */
export const BCRYPT = /^[$]2[aby][$](0[4-9]|1[0-2])[$][./A-Za-z0-9]{53}$/;

/** The part of a password that bcrypt reads. */
const BCRYPT_MAX_BYTES = 72;

/** Whether another system made this hash. */
function isBcrypt(passwordHash: string): boolean {
  return BCRYPT.test(passwordHash);
}

/**
 * Compares the password as it was sent, because the other system did not normalise it; bcrypt reads only its first 72 bytes. The
 * variants differ only in old bugs with long passwords, which `$2b$` does not have.
 */
function verifyBcrypt(passwordHash: string, password: string): Promise<boolean> {
  return compare(password, passwordHash.replace(/^\$2[aby]/, '$2b'));
}

/** Whether bcrypt ignored the end of this password, which may therefore be mistyped. */
export function isPartlyVerified(passwordHash: string, password: string): boolean {
  return isBcrypt(passwordHash) && Buffer.byteLength(password) > BCRYPT_MAX_BYTES;
}

/** The base-2 logarithm of a bcrypt hash's rounds. */
const costOf = (bcryptHash: string) => Number(bcryptHash.slice(4, 6));

/** A random hash of this cost that no password is known to match. */
function dummyBcryptHash(cost: number): string {
  return `$2b$${String(cost).padStart(2, '0')}$${randomBytes(53).toString('hex').slice(0, 53)}`;
}

const MAX_WAITING = 200;
/** Callers have given up after this time. */
const MAX_WAIT_MS = 10_000;

export type Hasher = ReturnType<typeof createHasher>;

export interface Attempt {
  ip?: string | null;
  /** Called once the password is known to be right. If it returns false, the password is treated as wrong. */
  mayPass?: () => Promise<boolean>;
  /** Called once the password is known to be wrong, before anything else that may wait or fail. Its failure is ignored. */
  onMismatch?: () => Promise<unknown>;
}

export interface HasherOptions {
  /** Maximum number of concurrent argon2 hashes. Each occupies a thread of libuv's pool and a core for about 15 ms, and 19 MiB. */
  concurrency: number;
  /** Finds the bcrypt hash of the highest cost. @default no account has one */
  findCostliestBcryptHash?: () => Promise<string | undefined>;
  onHashed?: (seconds: number) => void;
  /** @default COST */
  cost?: HashCost | undefined;
}

/**
 * Hashes slowly on libuv's threads, with bounded concurrency, so that a flood of logins starves neither other work nor other callers.
 * bcrypt has its own queue: a hash from another system may take a second, and every rejected login needs one.
 */
export function createHasher({ concurrency, findCostliestBcryptHash, onHashed, cost = COST }: HasherOptions) {
  const limits = { maxWaiting: MAX_WAITING, maxWaitMs: MAX_WAIT_MS, refusal: tooMany };
  const argon2 = createFairQueue({ concurrency, ...limits });
  const bcrypt = createFairQueue({ concurrency: Math.ceil(concurrency / 4), ...limits });
  const dummy = dummyHash(cost);

  const runQueued = <Result>(queue: FairQueue, ip: string | null, work: () => Promise<Result>): Promise<Result> =>
    queue.run(callerOf(ip), async () => {
      const start = performance.now();
      try {
        return await work();
      } finally {
        onHashed?.((performance.now() - start) / 1000);
      }
    });

  /** A hash that cannot be decoded, which an import may contain, is one that no password matches. */
  const verifyArgon2 = (passwordHash = dummy, password: string) =>
    verify(passwordHash, normalizePassword(password)).catch(() => verify(dummy, normalizePassword(password)));

  return {
    /** Callers, identified by `ip`, take turns. @throws AppError SERVICE_UNAVAILABLE when too many are waiting */
    hash: (password: string, ip: string | null = null) =>
      runQueued(argon2, ip, () => hash(normalizePassword(password), { ...ARGON2ID, ...cost })),
    /**
     * A rejection takes the same time without a hash (no such account) as with a hash of any kind: it computes argon2, and then
     * bcrypt of the highest cost while any account has such a hash.
     * @throws AppError SERVICE_UNAVAILABLE when too many are waiting
     */
    async verify(passwordHash = dummy, password: string, attempt: Attempt = {}): Promise<boolean> {
      const { ip = null, mayPass = async () => true, onMismatch = async () => undefined } = attempt;
      const own = isBcrypt(passwordHash) ? { bcrypt: passwordHash } : { argon2: passwordHash };
      const isRight = await runQueued(argon2, ip, () => verifyArgon2(own.argon2, password));
      if (isRight && (await mayPass())) return true;
      if (!own.bcrypt) await onMismatch().catch(() => undefined);
      const costliest = (await findCostliestBcryptHash?.()) ?? own.bcrypt;
      if (costliest === undefined) return false;
      const verifyCost = (cost: number) => verifyBcrypt(dummyBcryptHash(cost), password);
      const highest = costOf(costliest);
      const matches = await runQueued(bcrypt, ip, () =>
        own.bcrypt ? verifyBcrypt(own.bcrypt, password) : verifyCost(highest),
      );
      if (matches && (await mayPass())) return true;
      if (!own.bcrypt) return false;
      await onMismatch().catch(() => undefined);
      // Each cost has twice the rounds of the one before, so these add up to what the highest has more than this one.
      const lowest = costOf(own.bcrypt);
      if (lowest < highest)
        await runQueued(bcrypt, ip, async () => {
          for (let cost = lowest; cost < highest; cost++) await verifyCost(cost);
        });
      return false;
    },
    /** Whether the hash has the parameters of new hashes. */
    isCurrent: (passwordHash: string): boolean => passwordHash.startsWith(prefixOf(cost)),
    waiting: () => argon2.waiting() + bcrypt.waiting(),
  };
}

const tooMany = () => unavailable('Too many people are signing in right now; try again.');

/** Makes different encodings of a character the same password. */
function normalizePassword(password: string): string {
  return password.normalize('NFKC');
}
