import type { StreamFormat } from './stream-format.ts';

/** GraphQL over server-sent events, distinct connections: https://github.com/enisdenjo/graphql-sse/blob/master/PROTOCOL.md */
export const sse: StreamFormat = {
  protocol: 'sse',
  contentType: 'text/event-stream; charset=utf-8',
  opening: ':\n\n',
  heartbeat: ':\n\n',
  // An EventSource remembers an id without data, and sends it as Last-Event-ID when it reconnects, but fires no event.
  position: (cursor) => `id: ${cursor}\n\n`,
  next: (json, cursor) => `event: next\n${cursor === '' ? '' : `id: ${cursor}\n`}data: ${json}\n\n`,
  ending: 'event: complete\ndata:\n\n',
  failure: (errors) => `event: next\ndata: ${JSON.stringify({ errors })}\n\nevent: complete\ndata:\n\n`,
};
