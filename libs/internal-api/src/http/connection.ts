import type { LookupFunction, Socket } from 'node:net';
import { createResponseReader, type Answer } from './response-reader.ts';
import { openSocket } from './open-socket.ts';

/** A request, and what to call as it proceeds. */
export interface Exchange {
  /** The whole request as it is sent; `isAscii` when each character is one byte. */
  text: string;
  isAscii: boolean;
  /** The request is being sent now. */
  onSent(): void;
  onAnswer(answer: Answer): void;
  /** `isReset`: the connection broke before an answer began. */
  onFailure(error: Error, isReset: boolean): void;
}

/** A keep-alive connection: one request at a time. */
export interface Connection {
  /** Sends at once, or as soon as the connection is open. */
  send(exchange: Exchange): void;
  /** Whether the service probably still accepts requests on it. */
  isUsable(): boolean;
  destroy(error: Error): void;
}

export interface ConnectionOptions {
  url: URL;
  connectTimeoutMs: number;
  /** How long an idle connection is kept, unless the service announces less. */
  idleMs: number;
  maxResponseBytes: number;
  lookup?: LookupFunction | undefined;
  /** The connection is free for another request. */
  onIdle(connection: Connection): void;
  onClosed(connection: Connection): void;
}

/** Idle connections are given up this much earlier than the service closes them. */
const MARGIN_MS = 1_000;
/** The connection is gone: the service never saw the request, or died with it. */
const RESETS = new Set(['ECONNRESET', 'EPIPE']);

export function openConnection(options: ConnectionOptions): Connection {
  const { idleMs, connectTimeoutMs, onIdle, onClosed } = options;
  const reader = createResponseReader(options.maxResponseBytes);
  let exchange: Exchange | undefined;
  let isOpen = false;
  let isOver = false;
  let usableUntilMs = 0;

  const write = ({ text, isAscii, onSent }: Exchange) => {
    onSent();
    socket.write(text, isAscii ? 'latin1' : 'utf8');
  };

  const fail = (error: Error) => {
    if (isOver) return;
    isOver = true;
    clearTimeout(connecting);
    socket.destroy();
    onClosed(connection);
    const failed = exchange;
    exchange = undefined;
    failed?.onFailure(error, !reader.hasBegun && 'code' in error && RESETS.has(String(error.code)));
  };

  const read = (bytes: Buffer) => {
    if (!exchange) return fail(new Error('The service spoke without being asked.'));
    let response: ReturnType<typeof reader.read>;
    try {
      response = reader.read(bytes);
    } catch (error) {
      return fail(error as Error); // thrown by the reader
    }
    if (response) finish(response);
  };

  const finish = ({ status, text, isKept, keptS, date }: NonNullable<ReturnType<typeof reader.read>>) => {
    const answered = exchange;
    exchange = undefined;
    const keptMs = Math.min(idleMs, keptS === undefined ? idleMs : keptS * 1_000 - MARGIN_MS);
    if (isKept && keptMs > 0 && !isOver) {
      usableUntilMs = performance.now() + keptMs;
      onIdle(connection);
    } else {
      fail(new Error('The service ends the connection.'));
    }
    answered?.onAnswer({ status, text, date });
  };

  const ended = () => fail(Object.assign(new Error('The service closed the connection.'), { code: 'ECONNRESET' }));

  const connection: Connection = {
    send(next) {
      exchange = next;
      if (isOpen) write(next);
    },
    isUsable: () => !isOver && performance.now() < usableUntilMs,
    destroy: fail,
  };

  const socket: Socket = openSocket(options, {
    onOpen() {
      isOpen = true;
      clearTimeout(connecting);
      if (exchange) write(exchange);
    },
    onBytes: read,
    onEnd() {
      const response = reader.end();
      if (response && exchange) finish(response);
      else ended();
    },
  });
  const giveUp = () => {
    if (!isOpen) fail(new Error('The connection could not be made in time.'));
  };
  // If the process itself was busy for so long, the timer fires before the event that the connection is open.
  const connecting = setTimeout(() => setImmediate(giveUp), connectTimeoutMs);
  socket.on('error', fail).on('close', ended);
  return connection;
}
