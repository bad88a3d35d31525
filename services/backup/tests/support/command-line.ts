import { run, type CliEnvironment } from '../../cli/run.ts';

/** Runs a command; resolves with its status and what it wrote. */
export async function runCommand(args: string[], more: Partial<CliEnvironment> = {}) {
  let [out, err] = ['', ''];
  const status = await run({
    ...{ args, env: {}, cwd: '/', prompt: undefined },
    ...{ out: { write: (text: string) => void (out += text) }, err: { write: (text: string) => void (err += text) } },
    ...more,
  });
  return { status, out, err };
}
