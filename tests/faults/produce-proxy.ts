import { listen } from '@taskmesh/testing';
import { connect, createServer, type Socket } from 'node:net';

/** A fault in a request that appends records, or in its response. Only a torn request does not reach the broker. */
export type ProduceFault =
  | 'torn request'
  /** Reaches the broker long after its sender gave up and sent the records again. */
  | 'late request'
  | 'torn answer'
  | 'no answer'
  /** The broker appends the records, but the response says that it is not the leader. */
  | 'denial'
  | 'throttling'
  /** The response arrives byte by byte. */
  | 'trickle';

export interface ProduceProxy {
  port: number;
  /** How often each fault happened. */
  counts: Map<ProduceFault, number>;
  /** Injects a fault into a `share` of all requests from now on. Undefined: no fault. */
  inject(fault: ProduceFault | undefined, share?: number): void;
  close(): Promise<void>;
}

const PRODUCE = 0;
const NOT_LEADER = 6;
/** Longer than the 6 seconds that the producer waits for a response. */
const LATE_MS = 9_000;
const THROTTLE_MS = 700;

/** Creates a TCP proxy in front of a broker that recognizes requests that append records. */
export async function createProduceProxy(brokerPort: () => number, random: () => number): Promise<ProduceProxy> {
  const counts = new Map<ProduceFault, number>();
  let current: ProduceFault | undefined;
  let currentShare = 1;

  const choose = (frame: Buffer): ProduceFault | undefined => {
    if (current === undefined || frame.readInt16BE(4) !== PRODUCE || random() >= currentShare) return undefined;
    counts.set(current, (counts.get(current) ?? 0) + 1);
    return current;
  };

  const server = createServer((client) => {
    const broker = connect({ port: brokerPort(), host: '127.0.0.1' });
    const faults = new Map<number, ProduceFault>();
    let late = 0;
    const end = () => {
      client.destroy();
      if (late === 0) broker.destroy();
    };
    for (const socket of [client, broker]) {
      socket.setNoDelay(true);
      socket.on('error', () => undefined); // 'close' follows
      socket.on('close', end);
    }
    client.on(
      'data',
      inFrames((frame) => {
        const fault = choose(frame);
        if (fault === 'torn request') {
          broker.end(frame.subarray(0, frame.length / 2));
          client.destroy();
        } else if (fault === 'late request') {
          late += 1;
          setTimeout(() => {
            late -= 1;
            if (client.destroyed) broker.end(frame);
            else broker.write(frame);
          }, LATE_MS);
        } else {
          if (fault) faults.set(frame.readInt32BE(8), fault);
          broker.write(frame);
        }
      }),
    );
    broker.on(
      'data',
      inFrames((frame) => {
        const fault = faults.get(frame.readInt32BE(4));
        if (fault === 'no answer') return;
        if (fault === 'torn answer') return void client.end(frame.subarray(0, frame.length / 2));
        if (fault === 'trickle') return void trickle(frame, client);
        if (fault === 'denial') denyAll(frame);
        if (fault === 'throttling') frame.writeInt32BE(THROTTLE_MS, frame.length - 4);
        client.write(frame);
      }),
    );
  });

  const { port, close } = await listen(server);
  return {
    port,
    counts,
    inject(fault, share = 1) {
      [current, currentShare] = [fault, share];
    },
    close,
  };
}

/** Splits a stream into Kafka's frames, which begin with their length in four bytes. */
function inFrames(onFrame: (frame: Buffer) => void): (bytes: Buffer) => void {
  let rest = Buffer.alloc(0);
  return (bytes) => {
    rest = Buffer.concat([rest, bytes]);
    while (rest.length >= 4 && rest.length >= 4 + rest.readInt32BE(0)) {
      const end = 4 + rest.readInt32BE(0);
      onFrame(Buffer.from(rest.subarray(0, end)));
      rest = rest.subarray(end);
    }
  };
}

async function trickle(frame: Buffer, client: Socket): Promise<void> {
  for (const byte of frame) {
    if (client.destroyed) return;
    client.write(Buffer.from([byte]));
    await new Promise(setImmediate);
  }
}

/** Writes an error for each partition into a response of versions 5 to 7. */
function denyAll(frame: Buffer): void {
  let at = 8; // after the length and the correlation id
  const int32 = () => frame.readInt32BE((at += 4) - 4);
  for (let topics = int32(); topics > 0; topics--) {
    at += 2 + frame.readInt16BE(at);
    for (let partitions = int32(); partitions > 0; partitions--) {
      at += 4; // partition
      frame.writeInt16BE(NOT_LEADER, at);
      at += 2 + 8 + 8 + 8; // error, offset, time, first offset
    }
  }
}
