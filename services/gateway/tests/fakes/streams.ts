import { atEnd, eventually } from '@taskmesh/testing';
import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { request, type IncomingMessage } from 'node:http';
import { WebSocket } from 'ws';

/** A stream over any protocol, without a client library. It is closed at the end of the test or file. */
export type TestStream = ReturnType<typeof createStream>;

export interface StreamEvent {
  data?: ({ taskChanges: { sequence: number } & Record<string, unknown> } & Record<string, unknown>) | null;
  extensions?: Record<string, unknown>;
  [key: string]: unknown;
}

export interface StreamRequest {
  origin: string;
  token: string;
  query: string;
  variables?: Record<string, unknown>;
  headers?: Record<string, string>;
  /** For `connection_init` or the join. */
  params?: Record<string, unknown>;
}

function createStream(socket: Pick<WebSocket, 'close' | 'pause' | 'resume' | 'send'>) {
  return {
    /** The result of each event as the protocol carries it: `{"data": …}`, or the payload of a channel's message. */
    events: [] as StreamEvent[],
    /** The errors that ended it, as its client sees them. */
    errors: [] as { message: string; extensions?: Record<string, unknown> }[],
    /** Set when it has ended: a socket's close code, or whether a response was aborted before its normal end. */
    ended: undefined as { code?: number; isTorn?: boolean } | undefined,
    close: () => socket.close(),
    pause: () => socket.pause(),
    resume: () => socket.resume(),
    /** Channels only: sends a frame. */
    send: (frame: unknown) => socket.send(JSON.stringify(frame)),
    /** Channels only: the statuses of replies, by ref. */
    replies: {} as Record<string, string>,
  };
}

/** Opens a socket until the end of the test or file; resolves when it is open or refused. */
export async function openWebSocket(
  url: string,
  protocol?: string,
  headers: Record<string, string> = {},
): Promise<WebSocket> {
  const socket = new WebSocket(url.replace(/^http/, 'ws'), protocol === undefined ? [] : [protocol], { headers });
  atEnd(() => socket.terminate());
  await new Promise<void>((resolve, reject) => {
    socket.once('open', resolve);
    socket.once('error', reject);
  });
  return socket;
}

export interface Message {
  type: string;
  id?: string;
  payload?: unknown;
}

export type GraphqlWsClient = Awaited<ReturnType<typeof connectGraphqlWs>>;

/** A socket of graphql-ws whose client is acknowledged. */
export async function connectGraphqlWs(origin: string, token: string, params = {}) {
  const socket = await openWebSocket(`${origin}/graphql`, 'graphql-transport-ws');
  const messages: Message[] = [];
  /** Sends all of them in one segment. */
  const send = (...sent: Message[]) => {
    const { _socket: raw } = socket as unknown as { _socket: { cork(): void; uncork(): void } }; // ws does not expose cork
    raw.cork();
    for (const message of sent) socket.send(JSON.stringify(message));
    raw.uncork();
  };
  const client = {
    socket,
    messages,
    send,
    /** The messages about this operation. */
    of: (id: string) => messages.filter((message) => message.id === id),
    /** The close code. */
    closed: undefined as number | undefined,
    subscribe: (id: string, query: string) => send({ id, type: 'subscribe', payload: { query } }),
  };
  socket.on('message', (bytes) => messages.push(JSON.parse(String(bytes)) as Message));
  socket.on('close', (code) => (client.closed = code));
  send({ type: 'connection_init', payload: { authorization: `Bearer ${token}`, ...params } });
  await eventually(() => expect(messages).toEqual([{ type: 'connection_ack' }]));
  return client;
}

export async function streamGraphqlWs(request: StreamRequest): Promise<TestStream> {
  const { origin, token, query, variables, params } = request;
  const { socket, send } = await connectGraphqlWs(origin, token, params);
  const stream = createStream(socket);
  socket.on('close', (code) => (stream.ended = { code }));
  socket.on('message', (bytes) => {
    const message = JSON.parse(String(bytes)) as { type: string; payload: never };
    if (message.type === 'next') stream.events.push(message.payload);
    if (message.type === 'error') stream.errors.push(...(message.payload as TestStream['errors']));
    if (message.type === 'error' || message.type === 'complete') stream.ended = {};
  });
  send({ id: randomUUID(), type: 'subscribe', payload: { query, variables } });
  return stream;
}

const ACCEPT = { sse: 'text/event-stream', multipart: 'multipart/mixed;subscriptionSpec=1.0, application/json' };

export async function streamHttp(
  kind: 'sse' | 'multipart',
  { origin, token, query, variables, headers }: StreamRequest,
): Promise<TestStream> {
  const asked = request(`${origin}/graphql`, {
    ...{ method: 'POST', agent: false },
    headers: { 'content-type': 'application/json', accept: ACCEPT[kind], authorization: `Bearer ${token}`, ...headers },
  });
  atEnd(() => asked.destroy());
  asked.end(JSON.stringify({ query, variables }));
  const [response] = (await once(asked, 'response')) as [IncomingMessage];
  const stream = createStream({
    close: () => asked.destroy(),
    pause: () => void response.pause(),
    resume: () => void response.resume(),
    send: () => {},
  });
  let isWhole = false;
  let text = '';
  response.setEncoding('utf8').on('data', (chunk) => {
    text += chunk;
    const parts = text.split(kind === 'sse' ? '\n\n' : '\r\n--graphql');
    text = parts.pop() ?? '';
    for (const part of parts) takePart(kind, part, stream);
    isWhole ||= kind === 'sse' ? parts.some((part) => part.startsWith('event: complete')) : text.startsWith('--');
  });
  for (const each of [asked, response]) each.on('error', () => undefined); // aborted
  response.on('close', () => (stream.ended = isWhole ? {} : { isTorn: true }));
  return stream;
}

function takePart(kind: 'sse' | 'multipart', part: string, stream: TestStream): void {
  const json = kind === 'sse' ? /^data: (\{.*\})$/ms.exec(part)?.[1] : part.split('\r\n\r\n')[1];
  if (!json) return;
  const message = JSON.parse(json) as { payload?: StreamEvent | null; errors?: TestStream['errors'] };
  const event = kind === 'sse' ? (message as StreamEvent) : message.payload;
  if (event?.data !== undefined) stream.events.push(event);
  else if (message.errors) stream.errors.push(...message.errors);
}

export const PROTOCOLS = ['graphql-ws', 'sse', 'multipart', 'channel'] as const;
export type Protocol = (typeof PROTOCOLS)[number];

/** The protocols that run a document. */
export const GRAPHQL_PROTOCOLS = PROTOCOLS.slice(0, 3);

export function streamBy(protocol: Protocol, request: StreamRequest): Promise<TestStream> {
  if (protocol === 'graphql-ws') return streamGraphqlWs(request);
  return protocol === 'channel' ? streamChannel(request) : streamHttp(protocol, request);
}

/** `query` has no effect here: channels carry rows. */
export async function streamChannel({ origin, token, params }: StreamRequest): Promise<TestStream> {
  const socket = await openWebSocket(`${origin}/realtime/v1/websocket?apikey=public-key&vsn=2.0.0`);
  const stream = createStream(socket);
  socket.on('close', (code) => (stream.ended = { code }));
  socket.on('message', (bytes) => {
    const [, ref, , event, payload] = JSON.parse(String(bytes)) as [unknown, string, unknown, string, StreamEvent];
    if (event === 'phx_reply') stream.replies[ref] = String(payload['status']);
    if (event === 'postgres_changes') stream.events.push(payload);
    if (event === 'system' && payload['status'] === 'error')
      stream.errors.push({ message: String(payload['message']) });
  });
  const config = { postgres_changes: [{ event: '*', schema: 'public', table: 'tasks' }] };
  socket.send(JSON.stringify(['1', '1', 'realtime:tasks', 'phx_join', { config, access_token: token, ...params }]));
  await eventually(() => stream.replies['1'] !== undefined || stream.ended !== undefined);
  return stream;
}
