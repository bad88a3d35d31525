import { SUBSCRIPTION, waitMs } from './subscription.mjs';

/** The server says something every twelve seconds. */
const SILENCE_MS = 30_000;

/**
 * Follows the changes over a response that does not end. `headersFor(cursor)` are the protocol's, and `parser(onResult)`
 * makes a function that takes the response's text, piece by piece, and hands the results on.
 */
export function followStream({ url, token, after, onChange, onState, onEnd }, { headersFor, parser }) {
  const stopping = new AbortController();
  let cursor = after;

  /** Reads one response to its end. What it returns is the code of an error after which it is of no use to come back. */
  const readOnce = async () => {
    const silent = new AbortController();
    let silence = setTimeout(() => silent.abort(), SILENCE_MS);
    try {
      const response = await fetch(`${url}/graphql`, {
        method: 'POST',
        headers: {
          'content-type': 'application/json',
          authorization: `Bearer ${token}`,
          ...headersFor(cursor),
        },
        body: JSON.stringify({ query: SUBSCRIPTION, variables: { after: cursor } }),
        signal: AbortSignal.any([stopping.signal, silent.signal]),
      });
      if (response.status === 401) return 'UNAUTHENTICATED';
      if (!response.ok) throw new Error(`The stream was answered with ${response.status}.`);
      onState('live');
      let end;
      const parse = parser(({ data, errors }) => {
        if (errors) return (end = errors[0].extensions.code);
        const { kind, task } = data.taskChanges;
        cursor = data.taskChanges.cursor;
        onChange({ kind, task });
      });
      const reader = response.body.pipeThrough(new TextDecoderStream()).getReader();
      for (let piece = await reader.read(); !piece.done && !end; piece = await reader.read()) {
        clearTimeout(silence);
        silence = setTimeout(() => silent.abort(), SILENCE_MS);
        parse(piece.value);
      }
      return end;
    } finally {
      clearTimeout(silence);
    }
  };

  const run = async () => {
    for (let failures = 0; !stopping.signal.aborted; failures++) {
      const before = cursor;
      const end = await readOnce().catch(() => undefined);
      if (stopping.signal.aborted) return;
      if (end) return onEnd(end);
      if (cursor !== before) failures = 0;
      onState('reconnecting');
      await new Promise((resolve) => setTimeout(resolve, waitMs(failures)));
    }
  };
  void run();
  return () => stopping.abort();
}
