import { WebSocket } from 'ws';
import type { Connect, Listener, SeenTask, StreamedChange } from './stream.ts';

const TOPIC = 'realtime:tasks';
const HEARTBEAT_MS = 25_000;
const TRANSIENT_CLOSES = new Set([1006, 1012, 1013]);
const TRANSIENT = /UnableToSubscribe|Service restart|The service is not available right now/;

interface Row {
  id: string;
  user_id: string;
  title: string;
  version: number;
}

interface Payload {
  status?: string;
  message?: string;
  extension?: string;
  cursor?: string;
  response?: { reason?: string };
  data?: { type: StreamedChange['kind']; record?: Row; old_record?: Row };
}

/** The Supabase Realtime protocol in one of its versions, with the resume extension. */
export const connectChannel =
  (version: '1.0.0' | '2.0.0'): Connect =>
  ({ url, token, after }, listener) => {
    const origin = url.replace(/^http/, 'ws');
    const socket = new WebSocket(`${origin}/realtime/v1/websocket?apikey=public-key&vsn=${version}`);
    const send = (ref: string, topic: string, event: string, payload: unknown) => {
      const message = { topic, event, payload, ref, join_ref: '1' };
      socket.send(JSON.stringify(version === '2.0.0' ? ['1', ref, topic, event, payload] : message));
    };
    const beat = () => socket.readyState === socket.OPEN && send('2', 'phoenix', 'heartbeat', {});
    const heartbeat = setInterval(beat, HEARTBEAT_MS);
    socket.on('open', () =>
      send('1', TOPIC, 'phx_join', {
        config: { postgres_changes: [{ event: '*', schema: 'public', table: 'tasks' }] },
        access_token: token,
        resume: { since: after ?? null },
      }),
    );
    socket.on('error', () => listener.onEnd());
    socket.on('close', (code, reason) => {
      if (!TRANSIENT_CLOSES.has(code)) listener.onFailure(`closed with ${code} ${String(reason)}`);
      listener.onEnd();
    });
    socket.on('message', (bytes) => takeMessage(String(bytes), version, listener));
    return () => {
      clearInterval(heartbeat);
      socket.terminate();
    };
  };

function takeMessage(text: string, version: string, listener: Listener): void {
  const { topic, event, payload } = decode(text, version);
  if (topic !== TOPIC) return;
  if (event === 'phx_reply' && payload.status === 'ok') return listener.onSubscribed();
  if (event === 'postgres_changes') return takeChange(payload, listener);
  if (event === 'system' && payload.status === 'ok') {
    if (payload.extension === 'resume' && payload.cursor !== undefined) listener.onCursor(payload.cursor);
    return;
  }
  if (event === 'system' && payload.message?.startsWith('CURSOR_EXPIRED')) {
    if (payload.extension !== 'resume') return listener.onExpired();
    listener.onLostPosition();
    return listener.onEnd();
  }
  if (event === 'phx_error') return listener.onEnd(); // the real client joins again; the reason was sent before
  // Every other message means that the channel has ended.
  if (!TRANSIENT.test(text)) listener.onFailure(text);
  listener.onEnd();
}

/** Reads the format of the protocol in one of its versions. */
function decode(text: string, version: string): { topic: string; event: string; payload: Payload } {
  const message = JSON.parse(text);
  if (version === '1.0.0') return message;
  const [, , topic, event, payload] = message;
  return { topic, event, payload };
}

function takeChange({ data }: Payload, listener: Listener): void {
  const old = data?.old_record && seen(data.old_record);
  const task = data?.type === 'DELETE' ? old : data?.record && seen(data.record);
  if (!data || !task) return listener.onFailure(`a change without its row: ${JSON.stringify(data)}`);
  const previous = data.type === 'INSERT' ? null : (old ?? null);
  listener.onChange({ kind: data.type, sequence: undefined, task, previous });
}

function seen({ id, user_id: ownerId, title, version }: Row): SeenTask {
  return { id, ownerId, title, version };
}
