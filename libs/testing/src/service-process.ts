import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { atEnd } from './at-end.ts';
import { eventually } from './eventually.ts';
import { nodeEnvironment } from './this-process.ts';

/** Runs a service as a separate process, on free ports, until the end of the test or file. */
export function startService(main: string, env: Record<string, string>) {
  const child = spawn(process.execPath, [main], {
    env: { ...nodeEnvironment(), PORT: '0', ADMIN_PORT: '0', LOG_LEVEL: 'debug', ...env },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  let output = '';
  for (const stream of [child.stdout, child.stderr])
    stream.setEncoding('utf8').on('data', (text: string) => (output += text));
  const ended = once(child, 'close').then(([code, signal]) => ({ code, signal }));
  const addressOf = (message: string) =>
    eventually(
      () => {
        const line = output.split('\n').find((each) => each.includes(`"msg":"${message}"`));
        if (!line) throw new Error(`It does not say "${message}":\n${output}`);
        return String(JSON.parse(line).address);
      },
      { timeoutMs: 60_000 }, // busy machines are slow
    );
  const stop = () => {
    child.kill('SIGTERM');
    return ended;
  };
  atEnd(stop);
  return {
    child,
    output: () => output,
    url: () => addressOf('listening'),
    adminUrl: () => addressOf('admin server listening'),
    stop,
  };
}
