import { createClient } from 'graphql-ws';
import { token, url, waitMs } from '../feeds/taskmesh.mjs';
import { resuming, UNAUTHENTICATED } from './changes.mjs';

/** Connects again until the session has ended, and treats silence as a broken connection. */
export function createSocket() {
  let silence;
  const client = createClient({
    url: `${url.replace(/^http/, 'ws')}/graphql`,
    connectionParams: () => ({ authorization: `Bearer ${token}` }),
    retryAttempts: Infinity,
    retryWait: (retries) => new Promise((resolve) => setTimeout(resolve, waitMs(retries))),
    shouldRetry: ({ code }) => !UNAUTHENTICATED.includes(code),
    keepAlive: 10_000,
    on: {
      connected: () => console.log('live'),
      closed: () => {
        clearTimeout(silence);
        console.log('reconnecting');
      },
      ping: (isReceived) => {
        if (!isReceived) silence = setTimeout(() => client.terminate(), 5_000);
      },
      pong: (isReceived) => isReceived && clearTimeout(silence),
    },
  });
  return resuming(client);
}
