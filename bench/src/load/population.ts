import { Pool } from 'undici';
import { send, type Account } from './call.ts';

/** Who sends the requests. Readers keep exactly `TASKS_EACH` tasks; writers' tasks grow, so nobody measures their lists. */
export interface Population {
  readers: Account[];
  writers: Account[];
}

export const TASKS_EACH = 50;
const PASSWORD = 'a long enough passphrase';

/** Signs up two accounts for each connection and gives the readers their tasks, through the server's own REST paths. */
export async function populate(url: string, connections: number): Promise<Population> {
  const server = new Pool(url, { connections });
  const post = async <Body>(path: string, body: object, token = ''): Promise<Body> =>
    JSON.parse(await send(server, { method: 'POST', path, body, token, status: 201 }));
  const signUp = (kind: string) => async (_: unknown, index: number) => {
    const account = { email: `${kind}-${index}@bench.example`, password: PASSWORD };
    const session = await post<{ access_token: string }>('/api/auth/signup', { ...account, name: 'Benchmark' });
    return { ...account, token: session.access_token, taskIds: new Array<string>() };
  };
  const readers = await Promise.all(Array.from({ length: connections }, signUp('reader')));
  const writers = await Promise.all(Array.from({ length: connections }, signUp('writer')));
  const giveTasks = async ({ token, taskIds }: Account) => {
    for (let index = 0; index < TASKS_EACH; index++)
      taskIds.push((await post<{ data: { id: string } }>('/api/tasks', taskInput(index), token)).data.id);
  };
  await Promise.all(readers.map(giveTasks));
  await server.close();
  return { readers, writers };
}

/** A task of a usual size. */
export function taskInput(index: number) {
  return {
    title: `Prepare the report of week ${index}`,
    description: `Collect the figures of all teams, compare them with week ${index - 1}, and send the summary to everybody.`,
    dueDate: '2031-05-17T09:30:00.000Z',
    category: 'work',
    completed: index % 3 === 0,
  };
}

/** What the n-th update makes of a task. */
export function updateOf(n: number) {
  return { title: `Prepare the report of week ${n}, again`, completed: n % 2 === 0 };
}
