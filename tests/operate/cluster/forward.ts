import { eventually } from '@taskmesh/testing';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';

export type Forward = Awaited<ReturnType<typeof openForward>>;

/** Matches the report of a local client that gave up. It ends only that client's connection. */
const LEFT_BY_CLIENT = /error copying from local connection to remote stream.*connection reset by peer/;

/** Forwards a local port to a port of a pod or a service, such as `pod/a`. */
export async function openForward(namespace: string, target: string, port: number) {
  const forward = spawn('kubectl', ['port-forward', '-n', namespace, target, `:${port}`]);
  /** Errors that kubectl reported. */
  const failures: string[] = [];
  let output = '';
  forward.stdout.setEncoding('utf8').on('data', (text: string) => (output += text));
  createInterface({ input: forward.stderr }).on('line', (line) => LEFT_BY_CLIENT.test(line) || failures.push(line));
  const ended = once(forward, 'close');
  const close = async () => {
    forward.kill();
    await ended;
  };
  try {
    const local = await eventually(
      () => {
        const [, found] = /127\.0\.0\.1:(\d+)/.exec(output) ?? [];
        if (!found) throw new Error(`Nothing is forwarded: ${output}${failures.join('\n')}`);
        return found;
      },
      { timeoutMs: 60_000 },
    );
    return { url: `http://127.0.0.1:${local}`, failures, close };
  } catch (error) {
    await close();
    throw error;
  }
}
