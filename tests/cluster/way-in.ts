import { eventually } from '@taskmesh/testing';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { IMAGE } from './images.ts';
import { create, kubectl } from './kubectl.ts';
import { pod } from './pods.ts';

export interface WayIn {
  url: string;
  /** The pod that connections go through. */
  pod: string;
  /** What has gone wrong with the way itself. */
  failures: string[];
  close(): Promise<void>;
}

/**
 * Every connection becomes one of its own to a service, as those of any client in the cluster: the service chooses the pod.
 * However that pod's connection ends, ours ends in good order: a forwarding that sees a reset gives up.
 */
const RELAY = `
  const net = require('node:net');
  const [host, port] = process.argv.slice(1);
  const relay = (client) => {
    const server = net.connect({ host, port, allowHalfOpen: true });
    for (const [one, other] of [[client, server], [server, client]]) {
      one.pipe(other);
      one.on('error', () => {}).on('close', () => other.end() && other.resume());
    }
  };
  net.createServer({ allowHalfOpen: true }, relay).listen(8080, () => console.log('ready'));
  process.on('SIGTERM', () => process.exit(0));`;

/** Makes a service of the cluster a URL of this machine. */
export async function openWayIn(options: {
  namespace: string;
  service: string;
  port?: number;
  labels?: Record<string, string>;
}): Promise<WayIn> {
  const { namespace, service, port = 80, labels = {} } = options;
  const name = `way-to-${service}`;
  await create(
    pod({
      ...{ name, namespace, labels, image: IMAGE },
      command: ['node', '-e', RELAY, service, String(port)],
      container: { readinessProbe: { tcpSocket: { port: 8080 }, periodSeconds: 1 } },
    }),
  );
  await kubectl(['wait', '-n', namespace, `pod/${name}`, '--for=condition=Ready', '--timeout=120s']);
  const forward = spawn('kubectl', ['port-forward', '-n', namespace, `pod/${name}`, ':8080']);
  const failures: string[] = [];
  let output = '';
  forward.stdout.setEncoding('utf8').on('data', (text: string) => (output += text));
  forward.stderr.setEncoding('utf8').on('data', (text: string) => failures.push(text));
  const ended = once(forward, 'close');
  const local = await eventually(() => {
    const [, found] = /127\.0\.0\.1:(\d+)/.exec(output) ?? [];
    if (!found) throw new Error(`Nothing is forwarded: ${output}${failures.join('')}`);
    return found;
  });
  return {
    url: `http://127.0.0.1:${local}`,
    pod: name,
    failures,
    async close() {
      forward.kill();
      await ended;
    },
  };
}
