import { createClient } from 'graphql-ws';
import { setTimeout as sleep } from 'node:timers/promises';
import { run, SUBSCRIPTION, token, url, waitMs } from './taskmesh.mjs';

/** Codes with which Taskmesh ends the connection when the token has run out, or the session has ended. */
const UNAUTHENTICATED = [4401, 4403];

await run(async (after) => {
  // The library sends this object again after each reconnect: the feed then resumes from the last change that arrived.
  const variables = { after };
  let silence;
  const client = createClient({
    url: `${url.replace(/^http/, 'ws')}/graphql`,
    connectionParams: { authorization: `Bearer ${token}` },
    retryAttempts: Infinity,
    retryWait: (retries) => sleep(waitMs(retries)),
    shouldRetry: ({ code }) => !UNAUTHENTICATED.includes(code),
    keepAlive: 10_000,
    on: {
      connected: () => console.log('live'),
      closed: () => {
        clearTimeout(silence);
        console.log('reconnecting');
      },
      // A network that went away without a word is noticed by the answer that does not come.
      ping: (isReceived) => {
        if (!isReceived) silence = setTimeout(() => client.terminate(), 5_000);
      },
      pong: (isReceived) => isReceived && clearTimeout(silence),
    },
  });
  try {
    for await (const { data, errors } of client.iterate({ query: SUBSCRIPTION, variables })) {
      if (errors) return errors[0].extensions.code;
      const { cursor, kind, task } = data.taskChanges;
      variables.after = cursor;
      console.log(kind, task.title);
    }
  } catch (error) {
    // A list of errors ends the subscription; anything else is the end of a connection that the library does not renew.
    if (Array.isArray(error)) return error[0].extensions.code;
    if (UNAUTHENTICATED.includes(error.code)) return 'UNAUTHENTICATED';
    console.error(error.message ?? `The connection was closed with ${error.code}.`);
    return 'NETWORK';
  } finally {
    await client.dispose();
  }
});
