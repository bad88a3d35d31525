import { startHashThread, type HashJob, type HashResult, type HashThread } from './hash-thread.ts';

/** Our own threads for hashing, started as needed and kept. The caller limits how many run at once. */
export interface HashThreadPool {
  hash(password: string): Promise<string>;
  verify(passwordHash: string, password: string): Promise<boolean>;
  /** Running jobs fail. */
  close(): Promise<void>;
}

export function createHashThreadPool(start: () => HashThread = startHashThread): HashThreadPool {
  const all = new Set<HashThread>();
  const free: HashThread[] = [];
  let isClosed = false;

  const run = async (job: HashJob): Promise<HashResult> => {
    if (isClosed) throw new Error('Passwords are not hashed any more.');
    const thread = free.pop() ?? start();
    all.add(thread);
    try {
      return await thread.run(job);
    } finally {
      if (thread.isAlive()) free.push(thread);
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
      await Promise.all([...all].map((thread) => thread.end()));
    },
  };
}

const unexpected = (result: HashResult) =>
  new Error(`A password could not be hashed: ${'failure' in result ? result.failure : 'another answer came'}`);
