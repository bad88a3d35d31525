import { createInterface } from 'node:readline/promises';
import { createInterruption, exitStatusOf, type InterruptingSignal } from './interruption.ts';
import { run } from './run.ts';

/** A launcher may pass on a signal that the terminal has sent to every process already: that counts as the same one. */
const SAME_INTERRUPTION_MS = 1_000;

const isAttended = process.stdin.isTTY && process.stderr.isTTY;
const { signal: interrupted, interrupt } = createInterruption();
let interruptedAt: number | undefined;

for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(signal, () => end(signal));

process.exitCode = await run({
  args: process.argv.slice(2),
  env: process.env,
  out: process.stdout,
  err: process.stderr,
  cwd: process.env['INIT_CWD'] ?? process.cwd(), // npm changes the folder
  ask: isAttended ? ask : undefined,
  interrupted,
});

/** The first time it clears up before; who does not want to wait for that sends it again. */
function end(signal: InterruptingSignal): void {
  const now = performance.now();
  if (interruptedAt !== undefined && now - interruptedAt > SAME_INTERRUPTION_MS) process.exit(exitStatusOf(signal));
  interruptedAt ??= now;
  interrupt(signal);
}

async function ask(question: string): Promise<string> {
  const terminal = createInterface({ input: process.stdin, output: process.stderr });
  terminal.on('SIGINT', () => end('SIGINT')); // while it reads keys, no signal comes of them
  try {
    return await terminal.question(question, { signal: interrupted });
  } catch (error) {
    throw interrupted.aborted ? interrupted.reason : error;
  } finally {
    terminal.close();
  }
}
