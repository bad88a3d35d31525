import { Writable } from 'node:stream';
import { writeShared } from '../src/socket.ts';

/** A connection whose client reads nothing until `read` is called. */
function slowConnection() {
  let read = () => {};
  const written: Buffer[] = [];
  const connection = new Writable({
    write(chunk: Buffer, _encoding, taken) {
      written.push(chunk);
      read = taken;
    },
  });
  return { connection, written, read: () => read() };
}

describe('bytes that many connections are sent', () => {
  const bytes = Buffer.from('an event');

  it('are written as they are', () => {
    const { connection, written } = slowConnection();
    writeShared(connection, bytes);
    expect(written[0]).toBe(bytes);
  });

  it('keep nothing but themselves in memory while they wait', () => {
    const { connection, written, read } = slowConnection();
    writeShared(connection, bytes);
    writeShared(connection, bytes);
    read();
    expect(bytes.buffer.byteLength).toBeGreaterThan(bytes.length); // the pool of small buffers
    expect(written[1]).toEqual(bytes);
    expect(written[1]?.buffer.byteLength).toBe(bytes.length);
  });
});
