import { Worker } from 'node:worker_threads';

/** Where traces are posted. Headers, certificates and time-outs are read from the environment there. */
export interface OtlpTarget {
  url: string;
  contentType: 'application/x-protobuf' | 'application/json';
}

export interface ExportJob {
  id: number;
  body: Uint8Array;
}

export interface ExportOutcome {
  id: number;
  failure?: { message: string; code: string | undefined };
}

/** A thread that posts to the collector. */
export interface ExportThread {
  /** Rejects when the collector does not take it. */
  post(body: Uint8Array): Promise<void>;
  stop(): Promise<void>;
}

interface Waiting {
  resolve(): void;
  reject(error: Error): void;
}

/**
 * Node's HTTP client runs through the same streams and sockets as its server. In a process that is only a server, a request
 * to the collector every few seconds makes all of them slower for good (V8 had compiled them for the server's objects alone):
 * by 6 % of a request here. So the client has a thread of its own, from the first export on.
 */
export function createExportThread(target: OtlpTarget): ExportThread {
  const waiting = new Map<number, Waiting>();
  let running: Worker | undefined;
  let lastId = 0;

  const settle = ({ id, failure }: ExportOutcome) => {
    const job = waiting.get(id);
    waiting.delete(id);
    if (failure) job?.reject(Object.assign(new Error(failure.message), failure.code && { code: failure.code }));
    else job?.resolve();
  };

  const start = (): Worker => {
    const worker = new Worker(new URL('./otlp.worker.ts', import.meta.url), {
      workerData: target,
      execArgv: [], // the process' flags are not the thread's
      resourceLimits: { maxOldGenerationSizeMb: 64, maxYoungGenerationSizeMb: 8 },
    });
    const over = (error: Error) => {
      if (running === worker) running = undefined;
      for (const job of waiting.values()) job.reject(error);
      waiting.clear();
    };
    worker.on('message', settle);
    worker.on('error', (error: Error) => over(error));
    worker.on('exit', () => over(new Error('The thread that sends traces has ended.')));
    worker.unref(); // whoever waits for the last of it keeps the process
    return worker;
  };

  return {
    post(body) {
      const worker = (running ??= start());
      const id = ++lastId;
      return new Promise((resolve, reject) => {
        waiting.set(id, { resolve, reject });
        const job: ExportJob = { id, body };
        worker.postMessage(job);
      });
    },
    async stop() {
      await running?.terminate();
    },
  };
}
