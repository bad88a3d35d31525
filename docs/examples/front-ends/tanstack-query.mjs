import { QueryClient } from '@tanstack/query-core';
import { run, token, url } from '../feeds/taskmesh.mjs';
import { applyChange, CHANGES, codeOf, LIST, show } from './changes.mjs';
import { createSocket } from './socket.mjs';

const TASKS = ['tasks'];
const socket = createSocket();
const client = new QueryClient();

async function fetchTasks() {
  const response = await fetch(`${url}/graphql`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', authorization: `Bearer ${token}` },
    body: JSON.stringify({ query: LIST }),
  });
  if (!response.ok) throw Object.assign(new Error(`The list got ${response.status}.`), { response });
  const { data, errors } = await response.json();
  if (errors) throw Object.assign(new Error(errors[0].message), { errors });
  return { cursor: data.tasks.changesCursor, nodes: data.tasks.edges.map(({ node }) => node) };
}

async function readList() {
  try {
    const { cursor, nodes } = await client.fetchQuery({ queryKey: TASKS, queryFn: fetchTasks, retry: false });
    for (const { title } of nodes) console.log(`- ${title}`);
    return { cursor };
  } catch (error) {
    return { code: codeOf(error) };
  }
}

/** A component reads the list with `useQuery({ queryKey: TASKS, queryFn: fetchTasks, staleTime: Infinity })`. */
const follow = (after) =>
  new Promise((end) => {
    socket.subscribe(
      { query: CHANGES, variables: { after } },
      {
        next({ data, errors }) {
          if (errors) return end(errors[0].extensions.code);
          const { cursor, kind, task } = data.taskChanges;
          console.log(kind, task.title);
          client.setQueryData(TASKS, ({ nodes }) => ({ cursor, nodes: applyChange(nodes, { kind, task }) }));
          show(client.getQueryData(TASKS).nodes);
        },
        error: ([{ extensions }]) => end(extensions.code),
        complete: () => {},
      },
    );
  });

await run(follow, readList);
