import { TASK_CHANGES_TOPIC, type TaskChanged } from '@taskmesh/contracts';
import { createKafkaEventLog } from '@taskmesh/event-log';
import { createLog } from '@taskmesh/service';
import { createServer, type IncomingMessage } from 'node:http';
import type { Duplex } from 'node:stream';
import { WebSocketServer } from 'ws';
import { tellAddress } from '../../processes/tell-address.ts';

/*
 * What remains of the feed when all is left out that is not needed to deliver: sockets by owner, a frame that is built
 * once for all of them. No token, no order, no gap is looked at. Changes come over HTTP, and from Kafka's topic.
 */
const socketsOf = new Map<string, Set<Duplex>>();

function deliver(change: TaskChanged): void {
  const sockets = socketsOf.get(change.ownerId);
  if (!sockets) return;
  const { cursor, sequence, kind, task } = change;
  const { ownerId: _, ...fields } = task;
  const json = JSON.stringify({
    id: '1',
    type: 'next',
    payload: { data: { taskChanges: { cursor, sequence, kind, task: fields } } },
  });
  const frame = textFrame(Buffer.from(json));
  for (const socket of sockets) socket.write(frame);
}

/** A server's text frame; messages here are longer than 125 and shorter than 65,536 bytes. */
function textFrame(text: Buffer): Buffer {
  return Buffer.concat([Buffer.from([0x81, 126, text.length >> 8, text.length & 0xff]), text]);
}

const server = createServer((request, response) => {
  const chunks: Buffer[] = [];
  request.on('data', (chunk: Buffer) => chunks.push(chunk));
  request.on('end', () => {
    for (const change of JSON.parse(Buffer.concat(chunks).toString()) as TaskChanged[]) deliver(change);
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
    webSocket.on('close', () => {
      sockets.delete(socket);
      if (sockets.size === 0) socketsOf.delete(owner);
    });
  });
});

const brokers = process.env.KAFKA_BROKERS;
if (brokers) {
  const log = createLog({ service: 'bare', level: 'warn' });
  const reader = createKafkaEventLog({ brokers: brokers.split(','), clientId: 'bench-bare', log }).read(
    TASK_CHANGES_TOPIC,
    ({ value }) => deliver(JSON.parse(value)),
  );
  await reader.ready();
}

process.once('SIGTERM', () => process.exit(0));
tellAddress(server);
