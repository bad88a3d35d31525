import { connect } from 'node:net';

const TIMEOUT_MS = 3_000;

/** Metadata (3), version 1, correlation id 1, of the client "tm", about no topic, behind its size: as the protocol writes it. */
const METADATA_REQUEST = Buffer.from('000000100003000100000001' + '0002' + '746d' + '00000000', 'hex');

/**
 * Whether a Kafka broker (`host:port`) works: it answers a metadata request, and the cluster that it tells of has a
 * broker. An open port alone says nothing: it opens seconds before the broker takes part.
 */
export async function brokerAnswers(broker: string): Promise<boolean> {
  const { hostname, port } = new URL(`kafka://${broker}`);
  const socket = connect({ host: hostname, port: Number(port) });
  return new Promise<boolean>((resolve) => {
    let received = Buffer.alloc(0);
    const fail = () => resolve(false);
    socket.setTimeout(TIMEOUT_MS, fail).once('error', fail).once('close', fail);
    socket.on('data', (chunk) => {
      received = Buffer.concat([received, chunk]);
      // After the size and the correlation id: the length of the list of brokers.
      if (received.length >= 12) resolve(received.readInt32BE(8) > 0);
    });
    socket.write(METADATA_REQUEST);
  }).finally(() => socket.destroy());
}
