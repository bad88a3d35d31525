import { ignoreOutputErrors } from '@taskmesh/service';
import { createInterface } from 'node:readline/promises';
import { createInterruption, exitStatusOf, type InterruptingSignal } from './interruption.ts';
import { run } from './run.ts';

/** A launcher may forward a signal that the terminal already sent to all processes: within this time, both count as one. */
const SAME_INTERRUPTION_MS = 1_000;

const isAttended = process.stdin.isTTY && process.stderr.isTTY;
const { signal: interrupted, interrupt } = createInterruption();
let interruptedAt: number | undefined;
ignoreOutputErrors();
process.stdout.on('error', ({ code, message }: NodeJS.ErrnoException) => {
  if (code === 'EPIPE') return;
  process.stderr.write(`The output could not be written: ${message}\n`);
  process.exit(1); // output is written last
});

for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(signal, () => end(signal));

process.exitCode = await run({
  args: process.argv.slice(2),
  env: process.env,
  out: process.stdout,
  err: process.stderr,
  cwd: process.env['INIT_CWD'] ?? process.cwd(), // npm changes the working directory
  prompt: isAttended ? prompt : undefined,
  interrupted,
});

/** The first signal lets the command clean up; a second one ends it at once. */
function end(signal: InterruptingSignal): void {
  const now = performance.now();
  if (interruptedAt !== undefined && now - interruptedAt > SAME_INTERRUPTION_MS) process.exit(exitStatusOf(signal));
  interruptedAt ??= now;
  interrupt(signal);
}

async function prompt(question: string): Promise<string> {
  const terminal = createInterface({ input: process.stdin, output: process.stderr });
  terminal.on('SIGINT', () => end('SIGINT')); // while reading keys, the terminal sends no signals
  try {
    return await terminal.question(question, { signal: interrupted });
  } catch (error) {
    throw interrupted.aborted ? interrupted.reason : error;
  } finally {
    terminal.close();
  }
}
