import { startHashThread, type HashJob, type HashResult, type HashThread, type Priority } from './hash-thread.ts';

/** Our own threads for hashing, started as needed and kept. The caller limits how many run at once. */
export interface HashThreadPool {
  hash(password: string): Promise<string>;
  verify(passwordHash: string, password: string): Promise<boolean>;
  /** Running jobs fail. */
  close(): Promise<void>;
}

/** Whoever hashes for so long hardly gets a core: alone it takes some 15 ms. */
const STARVED_AFTER_MS = 250;
/** For how long threads have normal priority then. */
const RELIEF_MS = 60_000;

/**
 * Threads step aside for everybody else, until one of them starves: then those of normal priority hash for a while.
 * A thread keeps its priority, because raising it is a privilege.
 */
export function createHashThreadPool(
  start: (priority: Priority) => HashThread = startHashThread,
  now = () => performance.now(),
): HashThreadPool {
  const all = new Set<HashThread>();
  const free: Record<Priority, HashThread[]> = { low: [], normal: [] };
  let reliefUntilMs = -Infinity;
  let isClosed = false;

  const end = async (thread: HashThread) => {
    all.delete(thread);
    await thread.end();
  };

  const run = async (job: HashJob): Promise<HashResult> => {
    if (isClosed) throw new Error('Passwords are not hashed any more.');
    const startMs = now();
    const priority = startMs < reliefUntilMs ? 'normal' : 'low';
    const thread = free[priority].pop() ?? start(priority);
    all.add(thread);
    if (priority === 'low') for (const unneeded of free.normal.splice(0)) void end(unneeded);
    try {
      return await thread.run(job);
    } finally {
      if (priority === 'low' && now() - startMs > STARVED_AFTER_MS) reliefUntilMs = now() + RELIEF_MS;
      if (thread.isAlive()) free[priority].push(thread);
      else all.delete(thread);
    }
  };
  return {
    async hash(password) {
      const result = await run({ password });
      if ('hash' in result) return result.hash;
      throw unexpected(result);
    },
    async verify(passwordHash, password) {
      const result = await run({ password, passwordHash });
      if ('matches' in result) return result.matches;
      throw unexpected(result);
    },
    async close() {
      isClosed = true;
      await Promise.all([...all].map(end));
    },
  };
}

const unexpected = (result: HashResult) =>
  new Error(`A password could not be hashed: ${'failure' in result ? result.failure : 'another answer came'}`);
