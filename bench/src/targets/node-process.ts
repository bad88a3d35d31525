import { fork } from 'node:child_process';
import { closeSync, mkdirSync, openSync, readFileSync } from 'node:fs';
import { dirname } from 'node:path';
import { fileURLToPath } from 'node:url';

const STOP_MS = 15_000;
const LAST_CHARACTERS = 2_000;

export interface NodeProcess {
  readonly pid: number;
  /** The next message of the process. @throws when it ends instead */
  nextMessage(): Promise<unknown>;
  /** Sends a message and waits for the next one back. */
  ask(message: object): Promise<unknown>;
  stop(): Promise<void>;
}

export interface NodeOptions {
  name: string;
  file: URL;
  /** Node's own options. */
  execArgv?: string[];
  env: Readonly<Record<string, string | undefined>>;
  logFile: string;
}

/**
 * Runs one of our files as a process of its own, with a channel to it: it ends when we do, however we end. It stays in our
 * session, as what `startChild` starts: all parts of a target, and the load, share the processors alike.
 */
export async function startNode({ name, file, execArgv = [], env, logFile }: NodeOptions): Promise<NodeProcess> {
  mkdirSync(dirname(logFile), { recursive: true });
  const output = openSync(logFile, 'a');
  const child = fork(fileURLToPath(file), {
    env,
    execArgv,
    stdio: ['ignore', output, output, 'ipc'],
  });
  closeSync(output);
  await new Promise<void>((resolve, reject) => {
    child.once('spawn', resolve);
    child.once('error', reject);
  });
  const ended = new Promise<void>((resolve) => child.once('exit', () => resolve()));

  const nextMessage = () =>
    new Promise<unknown>((resolve, reject) => {
      const onEnd = () => reject(new Error(`${name} ended.\n${readFileSync(logFile, 'utf8').slice(-LAST_CHARACTERS)}`));
      if (child.exitCode !== null || child.signalCode !== null) return onEnd();
      child.once('exit', onEnd);
      child.once('message', (message) => {
        child.off('exit', onEnd);
        resolve(message);
      });
    });

  return {
    pid: child.pid ?? 0,
    nextMessage,
    ask(message) {
      const answer = nextMessage();
      child.send(message, (error) => error && child.emit('exit')); // a broken channel is an end, too
      return answer;
    },
    async stop() {
      if (child.exitCode !== null || child.signalCode !== null) return;
      child.kill('SIGTERM');
      const late = setTimeout(() => child.kill('SIGKILL'), STOP_MS);
      await ended;
      clearTimeout(late);
    },
  };
}
