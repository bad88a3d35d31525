import { connect } from 'node:net';

const METADATA = 3;
const VERSION = 1;
const TIMEOUT_MS = 3_000;

/**
 * Whether one of these Kafka brokers (`host:port,host:port`) works: it answers a metadata request, and the cluster
 * that it tells of has a broker. An open port alone says nothing: it opens seconds before the broker takes part.
 */
export async function brokerAnswers(brokers: string): Promise<boolean> {
  const answers = await Promise.all(brokers.split(',').map((broker) => countBrokers(broker.trim()).catch(() => 0)));
  return answers.some((count) => count > 0);
}

async function countBrokers(broker: string): Promise<number> {
  const colon = broker.lastIndexOf(':');
  const response = await exchange(
    broker.slice(0, colon).replace(/^\[|\]$/g, ''),
    Number(broker.slice(colon + 1)),
    metadataRequest(),
  );
  return response.readInt32BE(8); // after the size and the correlation id: the length of the list of brokers
}

/** Header version 1 and an empty list of topics, as the Kafka protocol writes them. */
function metadataRequest(): Buffer {
  const client = Buffer.from('taskmesh');
  const body = Buffer.alloc(10 + client.length + 4);
  body.writeInt16BE(METADATA, 0);
  body.writeInt16BE(VERSION, 2);
  body.writeInt32BE(1, 4);
  body.writeInt16BE(client.length, 8);
  client.copy(body, 10);
  const size = Buffer.alloc(4);
  size.writeInt32BE(body.length);
  return Buffer.concat([size, body]);
}

function exchange(host: string, port: number, request: Buffer): Promise<Buffer> {
  const socket = connect({ host, port });
  return new Promise<Buffer>((resolve, reject) => {
    let received = Buffer.alloc(0);
    socket.setTimeout(TIMEOUT_MS, () => reject(new Error('no answer')));
    socket.once('error', reject);
    socket.once('close', () => reject(new Error('connection closed')));
    socket.on('data', (chunk) => {
      received = Buffer.concat([received, chunk]);
      if (received.length >= 4 && received.length >= 4 + received.readInt32BE(0)) resolve(received);
    });
    socket.write(request);
  }).finally(() => socket.destroy());
}
