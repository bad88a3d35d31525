import type { StreamFormat } from './stream-format.ts';

/** Writes an event as a chunk of an HTTP/1.1 response. */
export type EventChunkOf = (json: string, cursor: string) => Buffer;

/** Equal streams get an event right after each other, so the last chunk is kept and shared by all of them. */
export function createEventChunks({ next }: Pick<StreamFormat, 'next'>): EventChunkOf {
  let last: { json: string; cursor: string; chunk: Buffer } | undefined;
  return (json, cursor) => {
    if (last?.json !== json || last.cursor !== cursor) last = { json, cursor, chunk: chunkOf(next(json, cursor)) };
    return last.chunk;
  };
}

/** https://www.rfc-editor.org/rfc/rfc9112#section-7.1 */
function chunkOf(text: string): Buffer {
  return Buffer.from(`${Buffer.byteLength(text).toString(16)}\r\n${text}\r\n`);
}
