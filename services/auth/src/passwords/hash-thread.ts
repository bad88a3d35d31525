import { Worker } from 'node:worker_threads';

/** With `passwordHash`, asks whether the password matches it; without, for the password's hash. */
export interface HashJob {
  password: string;
  passwordHash?: string;
}

export type HashResult = { hash: string } | { matches: boolean } | { failure: string };

/** With low priority, a thread hashes when nobody else wants its core, after its first job; only on Linux do they differ. */
export type Priority = 'low' | 'normal';

/** A thread that hashes. It keeps the process alive only while it works. */
export interface HashThread {
  /** Runs one job at a time. @throws when the thread has ended */
  run(job: HashJob): Promise<HashResult>;
  isAlive(): boolean;
  end(): Promise<void>;
}

export function startHashThread(priority: Priority): HashThread {
  const worker = new Worker(new URL('./argon2.worker.ts', import.meta.url), {
    execArgv: [], // do not inherit the process' flags
    env: {},
    workerData: priority,
  });
  let alive = true;
  let settle: { resolve(result: HashResult): void; reject(error: unknown): void } | undefined;
  const over = (error: unknown) => {
    alive = false;
    settle?.reject(error);
  };
  worker.on('message', (result: HashResult) => settle?.resolve(result));
  worker.on('error', over);
  worker.on('exit', () => over(new Error('The thread that hashes passwords has ended.')));
  worker.unref();

  return {
    async run(job) {
      if (!alive) throw new Error('The thread that hashes passwords has ended.');
      const result = new Promise<HashResult>((resolve, reject) => (settle = { resolve, reject }));
      worker.ref();
      worker.postMessage(job);
      try {
        return await result;
      } finally {
        settle = undefined;
        worker.unref();
      }
    },
    isAlive: () => alive,
    end: async () => void (await worker.terminate()),
  };
}
