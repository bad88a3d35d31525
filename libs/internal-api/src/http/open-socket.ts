import { connect as connectTcp, isIP, type LookupFunction, type Socket } from 'node:net';
import { connect as connectTls } from 'node:tls';

export interface SocketEvents {
  onOpen(): void;
  /** The bytes may be overwritten as soon as this returns. */
  onBytes(bytes: Buffer): void;
  onEnd(): void;
}

const READ_BYTES = 64 * 1024;
const KEEP_ALIVE_MS = 60_000;
/** Where the bytes of all connections arrive: each handles its own before the next one reads. */
const arrivals = Buffer.allocUnsafeSlow(READ_BYTES);

/** A connection over TCP, or TLS for `https:`. */
export function openSocket(
  { url, lookup }: { url: URL; lookup?: LookupFunction | undefined },
  { onOpen, onBytes, onEnd }: SocketEvents,
): Socket {
  const host = url.hostname.replace(/^\[|\]$/g, '');
  const isSecure = url.protocol === 'https:';
  const port = Number(url.port) || (isSecure ? 443 : 80);
  const common = {
    host,
    port,
    noDelay: true,
    keepAlive: true,
    keepAliveInitialDelay: KEEP_ALIVE_MS,
    ...(lookup && { lookup }),
  };
  if (isSecure) {
    const name = isIP(host) === 0 ? { servername: host } : {};
    return connectTls({ ...common, ...name, ALPNProtocols: ['http/1.1'] })
      .on('secureConnect', onOpen)
      .on('data', onBytes)
      .on('end', onEnd);
  }
  const onread = {
    buffer: arrivals,
    callback: (count: number) => {
      onBytes(arrivals.subarray(0, count));
      return true;
    },
  };
  return connectTcp({ ...common, onread })
    .on('connect', onOpen)
    .on('end', onEnd);
}
