import relay from 'relay-runtime'; // CommonJS; a bundler also takes { Network, Observable }
import { run, token, url } from '../feeds/taskmesh.mjs';
import { applyChange, CHANGES, codeOf, LIST, show } from './changes.mjs';
import { createSocket } from './socket.mjs';

async function fetchQuery({ text }, variables) {
  const response = await fetch(`${url}/graphql`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', authorization: `Bearer ${token}` },
    body: JSON.stringify({ query: text, variables }),
  });
  if (!response.ok) throw Object.assign(new Error(`The list got ${response.status}.`), { response });
  return response.json();
}

const socket = createSocket();
const subscribe = ({ text, name }, variables) =>
  relay.Observable.create((sink) =>
    socket.subscribe(
      { query: text, operationName: name, variables },
      { ...sink, error: ([{ message, extensions }]) => sink.error(Object.assign(new Error(message), extensions)) },
    ),
  );

/** What an application passes to `new Environment({ network, store })`. */
const network = relay.Network.create(fetchQuery, subscribe);

// Here without the compiler: what it makes of `graphql` tags, and what `useLazyLoadQuery` and `useSubscription` execute.
const request = (operationKind, name, text) => ({ operationKind, name, text, id: null, cacheID: name, metadata: {} });
const execute = (parameters, variables) => network.execute(parameters, variables, {});

let tasks = [];
async function readList() {
  try {
    const { data, errors } = await execute(request('query', 'Tasks', LIST), {}).toPromise();
    if (errors) return { code: codeOf({ errors, message: errors[0].message }) };
    tasks = data.tasks.edges.map(({ node }) => node);
    for (const { title } of tasks) console.log(`- ${title}`);
    return { cursor: data.tasks.changesCursor };
  } catch (error) {
    return { code: codeOf(error) };
  }
}

const follow = (after) =>
  new Promise((end) => {
    execute(request('subscription', 'Changes', CHANGES), { after }).subscribe({
      next({ data, errors }) {
        if (errors) return end(errors[0].extensions.code);
        const { kind, task } = data.taskChanges;
        console.log(kind, task.title);
        tasks = applyChange(tasks, { kind, task });
        show(tasks);
      },
      error: ({ code }) => end(code),
    });
  });

await run(follow, readList);
