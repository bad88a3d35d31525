import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { atEnd } from './at-end.ts';
import { eventually } from './eventually.ts';

/**
 * The variables that a child process of Node needs when a test chooses its environment: the path of programs, and the cache
 * of compiled code, without which its start takes 50 % longer.
 */
export function nodeEnvironment(): Record<string, string> {
  const { PATH = '', NODE_COMPILE_CACHE } = process.env;
  return { PATH, ...(NODE_COMPILE_CACHE && { NODE_COMPILE_CACHE }) };
}

let collect: ((options: { type: string }) => void) | undefined;

/** Collects garbage of this process synchronously: all of it, or only what is young. */
export function collectGarbage(type: 'major' | 'minor' = 'major'): void {
  setFlagsFromString('--expose-gc'); // only contexts created after this have `gc`
  collect ??= runInNewContext('gc') as (options: { type: string }) => void;
  collect({ type });
}

/** The memory that objects of this process use, without garbage. */
export function liveBytes(): number {
  collectGarbage();
  return process.memoryUsage().heapUsed;
}

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
    const timer = setTimeout(() => child.kill('SIGKILL'), 50_000);
    return ended.finally(() => clearTimeout(timer));
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
