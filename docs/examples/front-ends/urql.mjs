import { Client, fetchExchange, subscriptionExchange } from '@urql/core';
import { run, token, url } from '../feeds/taskmesh.mjs';
import { applyChange, CHANGES, codeOf, LIST, show } from './changes.mjs';
import { createSocket } from './socket.mjs';

const socket = createSocket();
const client = new Client({
  url: `${url}/graphql`,
  fetchOptions: () => ({ headers: { authorization: `Bearer ${token}` } }),
  preferGetMethod: false,
  exchanges: [
    fetchExchange,
    subscriptionExchange({
      forwardSubscription: (request) => ({
        subscribe: (sink) => ({ unsubscribe: socket.subscribe({ ...request, query: request.query ?? '' }, sink) }),
      }),
    }),
  ],
});

let tasks = [];
async function readList() {
  const { data, error } = await client.query(LIST, {}, { requestPolicy: 'network-only' });
  if (error) return { code: codeOf(error) };
  tasks = data.tasks.edges.map(({ node }) => node);
  for (const { title } of tasks) console.log(`- ${title}`);
  return { cursor: data.tasks.changesCursor };
}

/** A component does the same with `useSubscription` and its handler. */
const follow = (after) =>
  new Promise((end) => {
    const { unsubscribe } = client.subscription(CHANGES, { after }).subscribe(({ data, error }) => {
      if (error) {
        end(codeOf(error));
        setTimeout(() => unsubscribe());
        return;
      }
      const { kind, task } = data.taskChanges;
      console.log(kind, task.title);
      tasks = applyChange(tasks, { kind, task });
      show(tasks);
    });
  });

await run(follow, readList);
