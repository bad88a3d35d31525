import { startChild, type RunningProcess } from '@taskmesh/local';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';

const LADDER = [['SIGTERM', 15_000]] as const;

export interface NodeProcess extends RunningProcess {
  /** The next message of the process. @throws when it ends instead */
  nextMessage(): Promise<unknown>;
}

export interface NodeOptions {
  file: URL;
  /** Node's own options. */
  execArgv?: string[];
  env: Readonly<Record<string, string | undefined>>;
  logFile: string;
}

/** Runs one of our files as a process of its own, with a channel to it: it ends when we do, however we end. */
export async function startNode({ file, execArgv = [], env, logFile }: NodeOptions): Promise<NodeProcess> {
  const args = [...execArgv, fileURLToPath(file)];
  const options = { env, logFile, descriptors: ['ipc' as const], ladder: LADDER };
  const child = await startChild({ command: process.execPath, args, ...options });
  const ended = child.exited.then(() => {
    throw new Error(`${args.at(-1)} ended.\n${child.lastWords()}`);
  });
  ended.catch(() => undefined); // told to whoever waits for a message
  return {
    ...child,
    nextMessage: async () => ((await Promise.race([once(child.process, 'message'), ended])) as unknown[])[0],
  };
}
