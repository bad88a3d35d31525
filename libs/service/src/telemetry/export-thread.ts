import { Worker } from 'node:worker_threads';

/** Where traces are posted. The thread reads headers, certificates and time-outs from the environment. */
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
  /** What the collector said when it took the export, perhaps only a part of it. */
  answer?: Uint8Array;
  failure?: { message: string; code: string | undefined };
}

export interface ExportThread {
  /** Takes the body's memory. Resolves with the collector's answer, rejects when it does not accept the body. */
  post(body: Uint8Array): Promise<Uint8Array>;
  /** Resolves when the outcome of all that was posted so far is known. */
  settled(): Promise<void>;
  /** Ends at once: what is on its way is rejected. */
  stop(): Promise<void>;
}

interface Waiting {
  resolve(answer: Uint8Array): void;
  reject(error: Error): void;
}

interface Running {
  worker: Worker;
  waiting: Map<number, Waiting>;
}

const NOTHING = new Uint8Array();

/**
 * Node's HTTP client shares streams and sockets with its server. In a process that is only a server, a request to the
 * collector every few seconds makes all of them slower for good, because V8 compiled them for the server's objects
 * alone: by 6 % of a request here. So the client runs in its own thread, started with the first export.
 */
export function createExportThread(target: OtlpTarget): ExportThread {
  let running: Running | undefined;
  let lastId = 0;
  const posts = new Set<Promise<unknown>>();

  const settle = (waiting: Running['waiting'], { id, failure, answer = NOTHING }: ExportOutcome) => {
    const job = waiting.get(id);
    waiting.delete(id);
    if (failure) job?.reject(Object.assign(new Error(failure.message), failure.code && { code: failure.code }));
    else job?.resolve(answer);
  };

  const start = (): Running => {
    const worker = new Worker(new URL('./otlp.worker.ts', import.meta.url), {
      workerData: target,
      execArgv: [], // do not inherit the process's flags
      resourceLimits: { maxOldGenerationSizeMb: 64, maxYoungGenerationSizeMb: 8 },
    });
    const started: Running = { worker, waiting: new Map() };
    const over = (error: Error) => {
      if (running === started) running = undefined;
      for (const job of started.waiting.values()) job.reject(error);
      started.waiting.clear();
    };
    worker.on('message', (outcome: ExportOutcome) => settle(started.waiting, outcome));
    worker.on('error', (error: Error) => over(error));
    worker.on('exit', () => over(new Error('The thread that sends traces has ended.')));
    worker.unref(); // callers that wait for an export keep the process alive themselves
    return started;
  };

  return {
    post(body) {
      const { worker, waiting } = (running ??= start());
      const id = ++lastId;
      const { promise, resolve, reject } = Promise.withResolvers<Uint8Array>();
      waiting.set(id, { resolve, reject });
      posts.add(promise);
      const forget = () => void posts.delete(promise);
      promise.then(forget, forget);
      const job: ExportJob = { id, body };
      worker.postMessage(job, [body.buffer as ArrayBuffer]); // a serializer writes into memory of its own
      return promise;
    },
    async settled() {
      await Promise.allSettled(posts);
    },
    async stop() {
      await running?.worker.terminate();
    },
  };
}
