import { createClient } from 'graphql-ws';
import { SUBSCRIPTION, waitMs } from './subscription.mjs';

/** Codes with which Taskmesh ends the connection when the token has run out, or the session has ended. */
const UNAUTHENTICATED = [4401, 4403];

/** Follows the changes behind `after` until the returned function is called. */
export function follow({ url, token, after, onChange, onState, onEnd }) {
  // The library sends this object anew when it has connected again: then from the last change that arrived.
  const variables = { after };
  let silence;
  const client = createClient({
    url: `${url.replace(/^http/, 'ws')}/graphql`,
    connectionParams: { authorization: `Bearer ${token}` },
    retryAttempts: Infinity,
    retryWait: (retries) => new Promise((resolve) => setTimeout(resolve, waitMs(retries))),
    shouldRetry: ({ code }) => !UNAUTHENTICATED.includes(code),
    keepAlive: 10_000,
    on: {
      connected: () => onState('live'),
      closed: () => {
        clearTimeout(silence);
        onState('reconnecting');
      },
      // A network that went away without a word is noticed by the answer that does not come.
      ping: (isReceived) => {
        if (!isReceived) silence = setTimeout(() => client.terminate(), 5_000);
      },
      pong: (isReceived) => isReceived && clearTimeout(silence),
    },
  });
  client.subscribe(
    { query: SUBSCRIPTION, variables },
    {
      next({ data }) {
        const { cursor, kind, task } = data.taskChanges;
        variables.after = cursor;
        onChange({ kind, task });
      },
      // A list of errors ends the subscription; anything else is the connection's end.
      error: (error) => onEnd(Array.isArray(error) ? error[0].extensions.code : 'UNAUTHENTICATED'),
      complete: () => {},
    },
  );
  return () => client.dispose();
}
