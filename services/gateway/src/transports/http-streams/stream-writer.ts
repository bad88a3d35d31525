import type { GraphQLError } from 'graphql';
import type { ServerResponse } from 'node:http';
import { type Heartbeats, writeShared } from '@taskmesh/realtime-protocol';
import type { EndReason } from '../../realtime-metrics.ts';
import type { EventChunkOf, StreamFormat } from './formats.ts';
import type { StreamEnd, StreamSink } from '../../subscriptions/stream.ts';

const MAX_WAITING_BYTES = 1024 * 1024;
const LOW_WATER_BYTES = 64 * 1024;

/** Why a stream was aborted. */
const END_REASONS = { slow: 'slow', stopped: 'restart', unavailable: 'unavailable' } as const;

/** The part of Fastify's reply used here. */
interface Reply {
  raw: ServerResponse;
  hijack(): void;
  getHeaders(): Record<string, number | string | string[] | undefined>;
}

/** What all streams of a format have in common. */
export interface StreamKind {
  format: StreamFormat;
  chunkOf: EventChunkOf;
  heartbeats: Heartbeats;
}

export const headersOf = ({ contentType }: StreamFormat) => ({
  'content-type': contentType,
  'cache-control': 'no-store',
  'x-accel-buffering': 'no',
});

/** Writes a stream's frames to the raw response, bypassing Fastify: it stays open for hours. */
export class StreamWriter implements StreamSink {
  readonly #reply: Reply;
  readonly #kind: StreamKind;
  #stopHeartbeat = () => {};
  #positionNow: () => string | undefined = () => undefined;
  /** Text written before the stream was opened. */
  #early = '';
  #isOpen = false;
  /** The final frame has been written. */
  #isOver = false;
  #endReason: EndReason = 'client';
  /** Whether it may be cut for a new stream of this user. */
  givesWayTo = (_userId: string): boolean => false;

  constructor(reply: Reply, kind: StreamKind) {
    this.#reply = reply;
    this.#kind = kind;
  }

  open(): void {
    const { raw } = this.#reply;
    this.#reply.hijack();
    if (raw.destroyed) return;
    raw.on('error', () => raw.destroy());
    for (const [name, value] of Object.entries(this.#reply.getHeaders()))
      if (value !== undefined) raw.setHeader(name, value);
    raw.writeHead(200, headersOf(this.#kind.format));
    this.#isOpen = true;
    const opening = this.#kind.format.opening + this.#early;
    this.#early = '';
    if (this.#isOver) return void raw.end(opening);
    raw.write(opening);
    this.#stopHeartbeat = this.#kind.heartbeats.add(() => this.#beat());
    raw.once('close', () => this.#stopHeartbeat());
  }

  /** Called once, even if the client left before the stream was opened. */
  onClose(listener: () => void): void {
    const { raw } = this.#reply;
    if (raw.destroyed) listener();
    else raw.once('close', listener);
  }

  get endReason(): EndReason {
    return this.#endReason;
  }

  position(cursor: string): void {
    if (!this.#isOver) this.#write(this.#kind.format.position?.(cursor) ?? '');
  }

  /** Heartbeats report the position that `positionNow` returns, so that a client resumes after the changes that were filtered out. */
  beatWith(positionNow: () => string | undefined): void {
    this.#positionNow = positionNow;
  }

  next(json: string, { cursor }: { cursor: string }): boolean {
    if (this.#isOver) return true;
    const { raw } = this.#reply;
    if (raw.writableLength + this.#early.length > MAX_WAITING_BYTES) return false;
    // The response would write a chunk in four pieces. There are no chunks in HTTP/1.0.
    if (this.#isOpen && raw.socket && raw.chunkedEncoding) writeShared(raw.socket, this.#kind.chunkOf(json, cursor));
    else this.#write(this.#kind.format.next(json, cursor));
    return true;
  }

  end(end: StreamEnd): void {
    if (end.kind === 'failed') return this.fail(end.error);
    this.abort(END_REASONS[end.kind]);
  }

  async drained(): Promise<void> {
    const { raw } = this.#reply;
    if (raw.writableLength <= LOW_WATER_BYTES || raw.writableEnded || raw.destroyed || raw.socket?.destroyed) return;
    await new Promise((resolve) => raw.write('', resolve)); // called once all before it is sent, or cannot be
  }

  fail(error: GraphQLError, reason: EndReason = 'failed'): void {
    if (this.#isOver) return;
    this.#endReason = reason;
    this.#finish(this.#kind.format.failure([error]));
  }

  /** Closes without a normal end: clients treat it as a broken connection and reconnect. */
  abort(reason: EndReason): void {
    this.#endReason = reason;
    this.#reply.raw.destroy();
  }

  #beat(): void {
    const cursor = this.#positionNow();
    const { position, heartbeat } = this.#kind.format;
    this.#reply.raw.write(cursor !== undefined && position ? position(cursor) : heartbeat);
  }

  #write(text: string): void {
    if (this.#isOpen) this.#reply.raw.write(text);
    else this.#early += text;
  }

  /** The client may read this slowly, so heartbeats must stop: one written after the end would abort the response. */
  #finish(text: string): void {
    this.#isOver = true;
    this.#stopHeartbeat();
    if (this.#isOpen) this.#reply.raw.end(text);
    else this.#early += text;
  }
}
