import { spawn } from 'node:child_process';

/** A program that runs, and what it has printed so far. */
export interface Program {
  lines(): string[];
  errors(): string;
  /** Resolves with its exit code or signal. */
  ended: Promise<string>;
  /** Ends it if it still runs. */
  stop(): Promise<void>;
}

export function startProgram(command: string[], env: Record<string, string>): Program {
  const [file = '', ...args] = command;
  const { PATH, HOME } = process.env;
  const child = spawn(file, args, { env: { PATH, HOME, ...env }, stdio: ['ignore', 'pipe', 'pipe'] });
  let output = '';
  let errors = '';
  child.stdout.setEncoding('utf8').on('data', (text: string) => (output += text));
  child.stderr.setEncoding('utf8').on('data', (text: string) => (errors += text));
  const ended = new Promise<string>((resolve, reject) => {
    child.once('error', reject);
    child.once('close', (code, signal) => resolve(String(code ?? signal)));
  });
  return {
    lines: () => output.split('\n').slice(0, -1),
    errors: () => errors,
    ended,
    async stop() {
      child.kill('SIGKILL');
      await ended;
    },
  };
}
