// What the examples of front ends share, also in pages: subscriptions that resume, and changes applied to a list.

export const LIST = `query Tasks { tasks(first: 100) { changesCursor edges { node { id title completed version } } } }`;

export const CHANGES = `subscription Changes($after: String) {
  taskChanges(after: $after) { cursor kind task { id title completed version } }
}`;

/** Without a token, or when it expires or its session ends. These programs have one token; an application refreshes it after 4403. */
export const UNAUTHENTICATED = [4401, 4403];

/** graphql-ws sends the variables again after a reconnect. They then contain the cursor of the last change received. */
export const resuming = (client) => ({
  ...client,
  subscribe(request, sink) {
    const variables = { ...request.variables };
    return client.subscribe(
      { ...request, variables },
      {
        ...sink,
        next(result) {
          variables.after = result.data?.taskChanges?.cursor ?? variables.after;
          sink.next(result);
        },
        error: (error) => sink.error(Array.isArray(error) ? error : [errorOfClose(error)]),
      },
    );
  },
});

function errorOfClose({ code, message }) {
  const isEnd = UNAUTHENTICATED.includes(code);
  return { message: message ?? `Closed with ${code}.`, extensions: { code: isEnd ? 'UNAUTHENTICATED' : 'NETWORK' } };
}

/** Returns the list, newest first, with a change applied, unless it is older than the task in the list. */
export function applyChange(tasks, { kind, task }) {
  const known = tasks.find(({ id }) => id === task.id);
  if (known && known.version > task.version) return tasks;
  if (kind === 'DELETE') return tasks.filter((each) => each !== known);
  if (known) return tasks.map((each) => (each === known ? task : each));
  return kind === 'INSERT' ? [task, ...tasks] : [...tasks, task]; // an older task, which was not on the page
}

/** The code of an error of the list query; NETWORK if Taskmesh did not respond. */
export function codeOf(error) {
  console.error(error.statusCode ?? error.networkError?.statusCode ?? error.response?.status ?? '', error.message);
  return (error.errors ?? error.graphQLErrors)?.[0]?.extensions?.code ?? 'NETWORK';
}

export const show = (tasks) => console.log(`= ${tasks.map(({ title }) => title).join(', ')}`);
