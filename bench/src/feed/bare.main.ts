import { TASK_CHANGES_TOPIC } from '@taskmesh/contracts';
import { createKafkaEventLog } from '@taskmesh/event-log';
import { createLog } from '@taskmesh/service';
import { createServer, type IncomingMessage } from 'node:http';
import type { Duplex } from 'node:stream';
import { text } from 'node:stream/consumers';
import { WebSocketServer } from 'ws';
import { listen } from '../machine/child.ts';
import type { BareChange } from './sources.ts';

/*
 * The minimal feed: sockets by owner, and one frame that is built once for all of them. It does not check tokens, order
 * or gaps. Changes arrive over HTTP and from Kafka's topic.
 */
const socketsOf = new Map<string, Set<Duplex>>();

function deliver({ ownerId, ...change }: BareChange): void {
  const sockets = socketsOf.get(ownerId);
  if (!sockets) return;
  const payload = { data: { taskChanges: change } };
  const frame = textFrame(Buffer.from(JSON.stringify({ id: '1', type: 'next', payload })));
  for (const socket of sockets) socket.write(frame);
}

/** A server's text frame; messages here are longer than 125 and shorter than 65,536 bytes. */
function textFrame(bytes: Buffer): Buffer {
  return Buffer.concat([Buffer.from([0x81, 126, bytes.length >> 8, bytes.length & 0xff]), bytes]);
}

const server = createServer((request, response) => {
  void text(request).then((body) => {
    for (const change of JSON.parse(body) as BareChange[]) deliver(change);
    response.writeHead(204).end();
  });
});

const webSockets = new WebSocketServer({ noServer: true, perMessageDeflate: false });
server.on('upgrade', (request: IncomingMessage, socket: Duplex, head: Buffer) => {
  const owner = request.url?.slice(1) ?? '';
  webSockets.handleUpgrade(request, socket, head, (webSocket) => {
    const sockets = socketsOf.get(owner) ?? new Set();
    socketsOf.set(owner, sockets.add(socket));
    webSocket.on('error', () => webSocket.terminate());
    webSocket.on('close', () => sockets.delete(socket));
  });
});

const broker = process.env.KAFKA_BROKERS;
if (broker) {
  const log = createLog({ service: 'bare', level: 'warn' });
  const eventLog = createKafkaEventLog({ brokers: [broker], clientId: 'bench-bare', log });
  await eventLog.read(TASK_CHANGES_TOPIC, ({ value }) => deliver(JSON.parse(value))).ready();
}
process.once('SIGTERM', () => process.exit(0));
listen(server);
