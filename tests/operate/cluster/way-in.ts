import { openForward } from './forward.ts';
import { create, kubectl } from './kubectl.ts';
import { pod } from './pods.ts';

/**
 * Relays each connection to a service, which chooses a pod for it as for any client in the cluster. However that connection
 * ends, ours is closed without a reset, because kubectl stops forwarding after a reset.
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

/** Makes port 80 of a service of the cluster reachable at a URL of this machine, through a pod that relays the connections. */
export async function openWayIn(namespace: string, service: string, labels: Record<string, string> = {}) {
  const name = `way-to-${service}`;
  const command = ['node', '-e', RELAY, service, '80'];
  const container = { readinessProbe: { tcpSocket: { port: 8080 }, periodSeconds: 1 } };
  await create(pod({ name, namespace, labels, command, container }));
  await kubectl(['wait', '-n', namespace, `pod/${name}`, '--for=condition=Ready', '--timeout=120s']);
  return { ...(await openForward(namespace, `pod/${name}`, 8080)), pod: name };
}
