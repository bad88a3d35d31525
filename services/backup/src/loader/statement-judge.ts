import { Worker } from 'node:worker_threads';
import { errorMessage } from '../error-code.ts';
import { refuse, type Verdict } from './verdict.ts';

/** Decides about statements, with PostgreSQL's own parser. */
export interface StatementJudge {
  /** One statement at a time. */
  judge(text: string): Promise<Verdict>;
  close(): Promise<void>;
}

const MEMORY_MB = 512;

/** Resolves when the parser is loaded. Who makes it closes it. */
export async function createStatementJudge(): Promise<StatementJudge> {
  const worker = new Worker(new URL('./statement-judge.worker.ts', import.meta.url), {
    resourceLimits: { maxOldGenerationSizeMb: MEMORY_MB },
    execArgv: [], // the parent's flags are not the parser's
    env: {},
  });
  let broken: Verdict | undefined;
  let answer: (verdict: Verdict) => void = () => undefined;

  const started = new Promise<void>((resolve, reject) => {
    worker.once('message', () => {
      worker.on('message', (verdict: Verdict) => answer(verdict));
      resolve();
    });
    worker.once('error', reject);
  });
  worker.on('error', (error) => {
    broken = refuse(`the parser gave up (${errorMessage(error)})`);
    answer(broken);
  });
  await started;

  return {
    judge: (text) =>
      new Promise((resolve) => {
        if (broken) return resolve(broken);
        answer = resolve;
        worker.postMessage(text);
      }),
    async close() {
      await worker.terminate();
    },
  };
}
