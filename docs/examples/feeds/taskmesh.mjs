// What the four programs share: everything that is no stream.

export const url = process.env.TASKMESH_URL ?? 'http://127.0.0.1:4000';
export const token = process.env.TASKMESH_TOKEN;

/** The same for the three protocols that speak GraphQL. */
export const SUBSCRIPTION = `subscription Changes($after: String) {
  taskChanges(after: $after) { cursor kind task { id title completed version } }
}`;

/**
 * Prints the list, then each change as it comes. `follow(after)` prints the changes behind a cursor, comes back by itself
 * when the connection breaks, and returns the code of an error after which that is of no use.
 */
export async function run(follow) {
  try {
    if (!token) throw new Error('TASKMESH_TOKEN must be an access token or a personal token.');
    let code = 'CURSOR_EXPIRED';
    // The tasks were restored from a backup, or we were away for longer than changes are kept: the list is read anew.
    while (code === 'CURSOR_EXPIRED') code = await follow(await showTasks());
    throw new Error(code);
  } catch (error) {
    console.error(error.cause?.message ?? error.message);
    process.exit(1);
  }
}

/** Returns the cursor behind which the changes of the printed list begin: together they miss nothing. */
async function showTasks() {
  const query = '{ tasks(first: 100) { changesCursor edges { node { title } } } }';
  const response = await fetch(`${url}/graphql`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', authorization: `Bearer ${token}` },
    body: JSON.stringify({ query }),
  });
  const { data, errors } = await response.json();
  if (errors) throw new Error(errors[0].message);
  for (const { node } of data.tasks.edges) console.log(`- ${node.title}`);
  return data.tasks.changesCursor;
}

/** Grows with each failure, up to ten seconds, and differs from client to client, so that not all come back at once. */
export function waitMs(failures) {
  return Math.min(10_000, 250 * 2 ** failures) * (0.5 + Math.random() / 2);
}
