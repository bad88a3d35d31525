import type { Writable } from 'node:stream';

/** Where bytes go past the library that speaks the protocol. */
export type Connection = Pick<Writable, 'write' | 'writableLength'>;

/** Writes bytes that others may be sent, too, or that lie in the pool of small buffers beside those of others. */
export function writeShared(connection: Connection, bytes: Buffer): void {
  // What has to wait for its reader keeps no more memory than it is counted for.
  connection.write(connection.writableLength > 0 ? copyOf(bytes) : bytes);
}

function copyOf(bytes: Buffer): Buffer {
  const copy = Buffer.allocUnsafeSlow(bytes.length);
  bytes.copy(copy);
  return copy;
}
