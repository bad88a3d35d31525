import { Client } from 'undici';
import { openSocket } from '../../feed/load/open-socket.ts';
import { conversations } from '../../feed/load/conversations.ts';
import { titleOf } from '../../feed/change.ts';
import type { User } from '../../feed/users.ts';
import { taskInput } from '../../load/population.ts';

/** People who write over REST, one write of each at a time, in titles that sockets' listeners find again. */
export interface Owners {
  /** The first task of each. */
  begin(): Promise<void>;
  /** Another task of the next owner. */
  create(): Promise<void>;
  /** The next owner's first task gets another title. */
  update(): Promise<void>;
  close(): Promise<void>;
}

interface Answer {
  data: { id: string; title: string };
}

export function createOwners(urls: readonly string[], users: readonly User[]): Owners {
  let n = 0;
  let turn = 0;
  const owners = users.map((user, index) => {
    const client = new Client(urls[index % urls.length] ?? '');
    let firstId = '';
    const send = async (method: 'POST' | 'PATCH', path: string, status: number, body: object) => {
      const title = titleOf(++n);
      const headers = { 'content-type': 'application/json', authorization: `Bearer ${user.token}` };
      const response = await client.request({ method, path, headers, body: JSON.stringify({ ...body, title }) });
      const text = await response.body.text();
      if (response.statusCode !== status)
        throw new Error(`${method} answered ${response.statusCode}: ${text.slice(0, 500)}`);
      const { data } = JSON.parse(text) as Answer;
      if (data.title !== title) throw new Error(`${method} answered something unexpected: ${text.slice(0, 500)}`);
      return data.id;
    };
    return {
      begin: async () => void (firstId = await send('POST', '/api/tasks', 201, taskInput(index))),
      create: () => send('POST', '/api/tasks', 201, taskInput(index)),
      update: () => send('PATCH', `/api/tasks/${firstId}`, 200, { completed: n % 2 === 0 }),
      close: () => client.close(),
    };
  });
  const next = () => owners[turn++ % owners.length];
  return {
    begin: async () => void (await Promise.all(owners.map((owner) => owner.begin()))),
    create: async () => void (await next()?.create()),
    update: async () => void (await next()?.update()),
    close: async () => void (await Promise.all(owners.map((owner) => owner.close()))),
  };
}

/** A client that comes, subscribes and goes. */
export async function comeAndGo(url: string, user: User): Promise<void> {
  let failure: Error | undefined;
  const on = { onChange: () => undefined, onEnd: (error: Error) => (failure = error) };
  const socket = await openSocket(url, conversations['graphql-ws'](user), on);
  await socket.close();
  if (failure) throw failure;
}
