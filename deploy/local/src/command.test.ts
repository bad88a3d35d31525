import { runScript } from '@taskmesh/local-servers/testing';

const SRC = new URL('./', import.meta.url).href;

/** Returns the output and the exit code of a command that is interrupted during its start. */
async function endOf(command: string): Promise<unknown> {
  const script = `
    import { writeSync } from 'node:fs';
    import { runCommand } from '$src/command.ts';
    let output = '';
    process.stdout.write = () => true;
    process.stderr.write = (text) => !!(output += text);
    process.on('exit', (code) => writeSync(1, JSON.stringify({ code, output }) + '\\n'));
    const never = () => new Promise(() => undefined);
    const interrupted = () => { setTimeout(() => process.emit('SIGTERM'), 100); };
    await runCommand({ ...${command}, killNow: () => process.stderr.write('killed ') }, { stopMs: 500 });`;
  return runScript(script, SRC).nextLine();
}

it.each([
  ['a start', '{ start: () => { interrupted(); return never(); } }'],
  ['a stop', '{ start: async () => { interrupted(); return { stop: never }; } }'],
  ['a stop after a failure', `{ start: async () => ({ failed: Promise.resolve('broken'), stop: never }) }`],
])(
  'kills the remaining processes and exits with 1 if %s does not end',
  async (_what, command) => {
    const output = expect.stringMatching(/Not stopped after 0\.5 s: killing what is left\.\nkilled $/);
    expect(await endOf(command)).toEqual({ code: 1, output });
  },
  20_000,
);

it('reports a stop that failed', async () => {
  const stop = `() => Promise.reject(new Error('The disk is full.'))`;
  const ended = await endOf(`{ start: async () => { interrupted(); return { stop: ${stop} }; } }`);
  expect(ended).toEqual({ code: 1, output: expect.stringContaining('The disk is full.') });
});
