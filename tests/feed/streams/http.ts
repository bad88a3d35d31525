import { takeResult, type GraphqlResult } from './graphql-change.ts';
import type { Connect, Listener } from './stream.ts';

/** Server-sent events, read as by an EventSource: resumes by Last-Event-ID, including ids that came without an event. */
export const connectSse =
  (query: string): Connect =>
  ({ url, token, after }, listener) => {
    const address = `${url}/graphql?query=${encodeURIComponent(query)}`;
    const resumed = after === undefined ? {} : { 'last-event-id': after };
    const headers = { accept: 'text/event-stream', authorization: `Bearer ${token}`, ...resumed };
    return readStream(address, { headers }, listener, '\n\n', (frame) => {
      if (frame.startsWith('event: complete')) return listener.onEnd();
      const data = /^data: (.*)$/ms.exec(frame)?.[1];
      if (data) takeResult(JSON.parse(data) as GraphqlResult, listener); // the format of the protocol
      const id = /^id: (.*)$/m.exec(frame)?.[1];
      if (id) listener.onCursor(id);
    });
  };

/** Apollo's multipart protocol. */
export const connectMultipart =
  (query: string): Connect =>
  ({ url, token, after }, listener) => {
    const request = {
      method: 'POST',
      headers: {
        accept: 'multipart/mixed;subscriptionSpec=1.0',
        'content-type': 'application/json',
        authorization: `Bearer ${token}`,
      },
      body: JSON.stringify({ query, variables: { after } }),
    };
    return readStream(`${url}/graphql`, request, listener, '\r\n--graphql', (part) => {
      const json = part.split('\r\n\r\n')[1];
      const { payload, errors } = JSON.parse(json ?? '{}') as { payload?: GraphqlResult | null } & GraphqlResult;
      if (payload ?? errors) takeResult(payload ?? { errors: errors ?? [] }, listener);
    });
  };

function readStream(
  url: string,
  init: RequestInit,
  listener: Listener,
  separator: string,
  onFrame: (frame: string) => void,
): () => void {
  const tearing = new AbortController();
  const read = async () => {
    const response = await fetch(url, { ...init, signal: tearing.signal });
    if (response.status !== 200) {
      if (response.status !== 503) listener.onFailure(`answered ${response.status}: ${await response.text()}`);
      await response.body?.cancel();
      return;
    }
    listener.onSubscribed();
    let text = '';
    for await (const chunk of response.body?.pipeThrough(new TextDecoderStream()) ?? []) {
      const frames = (text + chunk).split(separator);
      text = frames.pop() ?? ''; // still incomplete
      for (const frame of frames) onFrame(frame);
    }
  };
  read()
    .catch(() => undefined) // the connection was torn
    .finally(() => listener.onEnd());
  return () => tearing.abort();
}
