import { Worker } from 'node:worker_threads';
import { errorMessage } from '../error-code.ts';
import { refuse, type Verdict } from './verdict.ts';

/** Decides about statements, with PostgreSQL's own parser. */
export interface StatementJudge {
  /** One verdict for each statement; not to be called again before the answer. */
  judge(texts: string[]): Promise<Verdict[]>;
  close(): Promise<void>;
}

/** A judge that several dumps of one archive share, and that may still be on its way. */
export interface SharedJudge {
  /** @throws when it cannot be started */
  ready(): Promise<StatementJudge>;
  close(): Promise<void>;
}

/** Starts one in the background, while an archive is extracted or a connection made. Who starts it closes it. */
export function startJudge(): SharedJudge {
  const starting = createStatementJudge();
  starting.catch(() => undefined); // told by `ready`
  return {
    ready: () => starting,
    close: () =>
      starting.then(
        (judge) => judge.close(),
        () => undefined,
      ),
  };
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
  let answer: (verdicts: Verdict[]) => void = () => undefined;

  const started = new Promise<void>((resolve, reject) => {
    worker.once('message', () => {
      worker.on('message', (verdicts: Verdict[]) => answer(verdicts));
      resolve();
    });
    worker.once('error', reject);
  });
  const giveUp = (reason: string) => {
    broken ??= refuse(`the parser gave up (${reason})`);
    answer([broken]);
  };
  worker.on('error', (error) => giveUp(errorMessage(error)));
  worker.on('exit', () => giveUp('it was ended'));
  await started;

  return {
    judge: (texts) =>
      new Promise((resolve) => {
        if (broken) return resolve([broken]);
        answer = resolve;
        worker.postMessage(texts);
      }),
    async close() {
      await worker.terminate();
    },
  };
}
