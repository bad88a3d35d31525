import { setTimeout as sleep } from 'node:timers/promises';
import { reasonOf, SILENCE_MS, SUBSCRIPTION, token, url, waitMs } from './taskmesh.mjs';

/**
 * Follows the changes over a response that does not end. `headersFor(cursor)` are the protocol's, and `parser(onResult)`
 * makes a function that takes the response's text, piece by piece, and hands the results on.
 */
export async function followStream(after, { headersFor, parser }) {
  let cursor = after;

  /** Reads one response to its end. Returns the code of an error after which it is of no use to come back. */
  const readOnce = async () => {
    const silent = new AbortController();
    const abort = () => silent.abort();
    let silence = setTimeout(abort, SILENCE_MS);
    try {
      const response = await fetch(`${url}/graphql`, {
        method: 'POST',
        headers: {
          'content-type': 'application/json',
          authorization: `Bearer ${token}`,
          ...headersFor(cursor),
        },
        body: JSON.stringify({ query: SUBSCRIPTION, variables: { after: cursor } }),
        signal: silent.signal,
      });
      if (response.status === 401) return 'UNAUTHENTICATED';
      if (!response.ok) throw new Error(`The stream failed with ${response.status}.`);
      console.log('live');
      let end;
      const parse = parser(({ data, errors }) => {
        if (errors) return (end = errors[0].extensions.code);
        cursor = data.taskChanges.cursor;
        console.log(data.taskChanges.kind, data.taskChanges.task.title);
      });
      for await (const piece of response.body.pipeThrough(new TextDecoderStream())) {
        clearTimeout(silence);
        silence = setTimeout(abort, SILENCE_MS);
        parse(piece);
        if (end) return end;
      }
    } catch (error) {
      console.error(reasonOf(error));
    } finally {
      clearTimeout(silence);
      abort(); // gives back a connection of which something is unread
    }
  };

  for (let failures = 0; ; failures++) {
    const before = cursor;
    const end = await readOnce();
    if (end) return end;
    if (cursor !== before) failures = 0;
    console.log('reconnecting');
    await sleep(waitMs(failures));
  }
}
