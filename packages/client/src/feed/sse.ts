import { toTaskmeshError } from '../errors.ts';
import { headersOf, readFailure } from '../http.ts';
import { TASK_CHANGES } from '../operations.generated.ts';
import type { Time } from '../time.ts';
import {
  CUT,
  endOfError,
  SILENCE_MS,
  deliverResult,
  type FeedDeps,
  type FeedEnd,
  type FeedResult,
  type OpenFeed,
} from './feed.ts';

export interface SseDeps extends FeedDeps {
  fetch: typeof fetch;
  time: Pick<Time, 'after'>;
}

/** Server-sent events over `fetch`: each subscription is a request whose response does not end. */
export function createSseFeed({ url, token, fetch, time }: SseDeps): OpenFeed {
  return (variables, listener) => {
    const tearing = new AbortController();
    const read = async (): Promise<FeedEnd> => {
      const used = await token();
      if (used === undefined) return { reason: 'unauthenticated', token: used };
      let giveUp = () => {};
      const restartSilence = () => {
        giveUp();
        giveUp = time.after(SILENCE_MS, () => tearing.abort());
      };
      try {
        restartSilence();
        const response = await fetch(url, {
          method: 'POST',
          headers: { ...headersOf(used), accept: 'text/event-stream' },
          body: JSON.stringify({ query: TASK_CHANGES, variables }),
          signal: tearing.signal,
        });
        if (!response.ok || !response.body) return endOfError(await readFailure(response), used);
        listener.onSubscribed();
        for await (const result of resultsOf(response.body, restartSilence)) {
          const end = isStopped ? CUT : deliverResult(result, listener, used);
          if (end) return end;
        }
        return CUT;
      } finally {
        giveUp();
        tearing.abort();
      }
    };
    let isStopped = false;
    void read()
      .catch((error: unknown) => endOfError(toTaskmeshError(error), undefined))
      .then((end) => isStopped || listener.onEnd(end));
    return () => {
      isStopped = true;
      tearing.abort();
    };
  };
}

/** Yields the data of each event that has any. `onChunk` is called for everything that arrives, even heartbeats. */
async function* resultsOf(body: ReadableStream<Uint8Array>, onChunk: () => void): AsyncGenerator<FeedResult> {
  const reader = body.getReader();
  const decoder = new TextDecoder();
  let text = '';
  for (;;) {
    const { done, value } = await reader.read();
    if (done) return;
    onChunk();
    const events = (text + decoder.decode(value, { stream: true })).split('\n\n');
    text = events.pop() ?? ''; // incomplete
    for (const event of events) {
      // Not by a regular expression, for which U+2028 and U+2029 end a line: JSON may contain them.
      const data = event
        .split('\n')
        .find((line) => line.startsWith('data:'))
        ?.slice('data:'.length);
      if (data) yield JSON.parse(data) as FeedResult; // as the protocol defines it
    }
  }
}
