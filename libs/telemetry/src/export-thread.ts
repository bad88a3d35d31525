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
  failure?: { message: string; code: string | undefined };
}

export interface ExportThread {
  /** Takes the body's memory. Rejects when the collector does not accept it. */
  post(body: Uint8Array): Promise<void>;
  stop(): Promise<void>;
}

interface Waiting {
  resolve(): void;
  reject(error: Error): void;
}

/**
 * Node's HTTP client shares streams and sockets with its server. In a process that is only a server, a request to the
 * collector every few seconds makes all of them slower for good, because V8 compiled them for the server's objects
 * alone: by 6 % of a request here. So the client runs in its own thread, started with the first export.
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
      execArgv: [], // do not inherit the process's flags
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
    worker.unref(); // callers that wait for an export keep the process alive themselves
    return worker;
  };

  return {
    post(body) {
      const worker = (running ??= start());
      const id = ++lastId;
      return new Promise((resolve, reject) => {
        waiting.set(id, { resolve, reject });
        const job: ExportJob = { id, body };
        worker.postMessage(job, [body.buffer as ArrayBuffer]); // a serializer writes into memory of its own
      });
    },
    async stop() {
      await running?.terminate();
    },
  };
}
