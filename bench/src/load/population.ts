import { request } from 'undici';

export interface Account {
  email: string;
  password: string;
  token: string;
  taskIds: string[];
}

/** Who sends the requests. Readers keep exactly `TASKS_EACH` tasks; writers' tasks grow, so nobody measures their lists. */
export interface Population {
  readers: Account[];
  writers: Account[];
}

export const TASKS_EACH = 50;
const PASSWORD = 'a long enough passphrase';

/** Signs up two accounts for each connection and gives the readers their tasks, through the server's own REST paths. */
export async function populate(url: string, connections: number): Promise<Population> {
  const make = (kind: string) => (_: unknown, index: number) => signUp(url, `${kind}-${index}@bench.example`);
  const readers = await Promise.all(Array.from({ length: connections }, make('reader')));
  const writers = await Promise.all(Array.from({ length: connections }, make('writer')));
  await Promise.all(readers.map((reader) => giveTasks(url, reader)));
  return { readers, writers };
}

async function signUp(url: string, email: string): Promise<Account> {
  const body = { email, password: PASSWORD, name: 'Benchmark' };
  const { access_token } = await post<{ access_token: string }>(`${url}/api/auth/signup`, body);
  return { email, password: PASSWORD, token: access_token, taskIds: [] };
}

async function giveTasks(url: string, account: Account): Promise<void> {
  for (let index = 0; index < TASKS_EACH; index++) {
    const { data } = await post<{ data: { id: string } }>(`${url}/api/tasks`, taskInput(index), account.token);
    account.taskIds.push(data.id);
  }
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

async function post<Body>(url: string, body: object, token?: string): Promise<Body> {
  const headers = { 'content-type': 'application/json', ...(token && { authorization: `Bearer ${token}` }) };
  const response = await request(url, { method: 'POST', headers, body: JSON.stringify(body) });
  const text = await response.body.text();
  if (response.statusCode !== 201) throw new Error(`POST ${url} answered ${response.statusCode}: ${text}`);
  return JSON.parse(text);
}
