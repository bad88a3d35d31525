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
/** For how long threads have normal priority when none starves any more. */
const RELIEF_MS = 60_000;

/**
 * Threads step aside for everybody else, until one of them starves: then those of normal priority hash for a while, its job first.
 * A thread keeps its priority, because raising it is a privilege. One of normal priority stays for the next time, because a thread
 * that starts when none gets a core would come too late; more would only take memory.
 */
export function createHashThreadPool(start: (priority: Priority) => HashThread = startHashThread): HashThreadPool {
  const all = new Set<HashThread>();
  const free: Record<Priority, HashThread[]> = { low: [], normal: [] };
  let reliefUntilMs = -Infinity;
  let isClosed = false;

  const end = async (thread: HashThread) => {
    all.delete(thread);
    await thread.end();
  };

  const runAt = async (priority: Priority, job: HashJob): Promise<HashResult> => {
    if (isClosed) throw new Error('Passwords are not hashed any more.');
    const thread = free[priority].pop() ?? start(priority);
    all.add(thread);
    try {
      return await thread.run(job);
    } finally {
      if (thread.isAlive()) free[priority].push(thread);
      else all.delete(thread);
    }
  };

  /** A job that starves would take seconds, and those behind it would wait. A thread of normal priority does it meanwhile. */
  const runPatiently = (job: HashJob): Promise<HashResult> => {
    if (free.low.length === 0) return runAt('low', job); // the first job of a thread has normal priority
    const relieved = Promise.withResolvers<HashResult>();
    const timer = setTimeout(() => {
      reliefUntilMs = Infinity;
      relieved.resolve(runAt('normal', job).catch(() => done));
    }, STARVED_AFTER_MS);
    const done = runAt('low', job).finally(() => {
      clearTimeout(timer);
      if (reliefUntilMs === Infinity) reliefUntilMs = performance.now() + RELIEF_MS;
    });
    return Promise.race([done, relieved.promise]);
  };

  const run = (job: HashJob): Promise<HashResult> => {
    if (performance.now() < reliefUntilMs) return runAt('normal', job);
    for (const unneeded of free.normal.splice(1)) void end(unneeded);
    return runPatiently(job);
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
