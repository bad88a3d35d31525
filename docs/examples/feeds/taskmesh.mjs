// What the four programs share: everything that is no stream.
import { setTimeout as sleep } from 'node:timers/promises';

export const url = process.env.TASKMESH_URL ?? 'http://127.0.0.1:4000';
export const token = process.env.TASKMESH_TOKEN;

/** The same for the three protocols that speak GraphQL. */
export const SUBSCRIPTION = `subscription Changes($after: String) {
  taskChanges(after: $after) { cursor kind task { id title completed version } }
}`;

/** The server says something every twelve seconds. */
export const SILENCE_MS = 30_000;

/** What passes: the list is read again, after a pause. After any other code it is of no use to come back. */
const PASSING = ['NETWORK', 'CURSOR_EXPIRED', 'SERVICE_UNAVAILABLE', 'RATE_LIMITED', 'INTERNAL_SERVER_ERROR'];

/**
 * Prints the list, then each change as it comes. `follow(after)` prints the changes behind a cursor, comes back by itself
 * when the connection breaks, and returns the code of an error that a new connection does not mend.
 */
export async function run(follow, readList = showTasks) {
  if (!token) end('TASKMESH_TOKEN must be an access token or a personal token.');
  for (let failures = 0; ; failures++) {
    const beganAt = Date.now();
    const list = await readList();
    const code = list.code ?? (await follow(list.cursor));
    if (!PASSING.includes(code)) end(code);
    if (Date.now() - beganAt > SILENCE_MS) failures = 0;
    console.log('reconnecting');
    await sleep(waitMs(failures));
  }
}

function end(why) {
  console.error(why);
  process.exit(1);
}

/** Prints the list. Returns the cursor behind which its changes begin (together they miss nothing), or why there is none. */
async function showTasks() {
  const query = '{ tasks(first: 100) { changesCursor edges { node { title } } } }';
  try {
    const response = await fetch(`${url}/graphql`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', authorization: `Bearer ${token}` },
      body: JSON.stringify({ query }),
      signal: AbortSignal.timeout(SILENCE_MS),
    });
    if (!response.ok) throw new Error(`The list failed with ${response.status}.`);
    const { data, errors } = await response.json();
    if (errors) return { code: errors[0].extensions.code };
    for (const { node } of data.tasks.edges) console.log(`- ${node.title}`);
    return { cursor: data.tasks.changesCursor };
  } catch (error) {
    console.error(reasonOf(error));
    return { code: 'NETWORK' };
  }
}

/** `fetch` says what failed only in the cause. */
export const reasonOf = (error) => error.cause?.message ?? error.message;

/** Grows with each failure, up to ten seconds, and differs from client to client, so that not all come back at once. */
export function waitMs(failures) {
  return Math.min(10_000, 250 * 2 ** failures) * (0.5 + Math.random() / 2);
}
