import { createInterface } from 'node:readline/promises';
import { run } from './run.ts';

const isAttended = process.stdin.isTTY && process.stderr.isTTY;

process.exitCode = await run({
  args: process.argv.slice(2),
  env: process.env,
  out: process.stdout,
  err: process.stderr,
  cwd: process.env['INIT_CWD'] ?? process.cwd(), // npm changes the folder
  ask: isAttended ? ask : undefined,
});

async function ask(question: string): Promise<string> {
  const terminal = createInterface({ input: process.stdin, output: process.stderr });
  try {
    return await terminal.question(question);
  } finally {
    terminal.close();
  }
}
