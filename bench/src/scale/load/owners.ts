import { Client } from 'undici';
import { titleOf } from '../../feed/change.ts';
import { conversations } from '../../feed/load/conversations.ts';
import { openSocket } from '../../feed/load/open-socket.ts';
import type { User } from '../../feed/users.ts';
import { send } from '../../load/call.ts';
import { inTurns } from '../../load/paced.ts';
import { taskInput } from '../../load/population.ts';

/** People who write over REST, one write of each at a time, in titles that sockets' listeners find again. */
export function createOwners(urls: readonly string[], users: readonly User[]) {
  let n = 0;
  const nextUrl = inTurns(urls);
  const owners = users.map(({ token }, index) => {
    const client = new Client(nextUrl());
    let firstId = '';
    const write = async (method: 'POST' | 'PATCH', path: string, status: number, body: object): Promise<string> => {
      const title = titleOf(++n);
      const text = await send(client, { method, path, token, status, body: { ...body, title } });
      const { data } = JSON.parse(text) as { data: { id: string; title: string } };
      if (data.title !== title) throw new Error(`${method} answered something unexpected: ${text.slice(0, 500)}`);
      return data.id;
    };
    const create = () => write('POST', '/api/tasks', 201, taskInput(index));
    return {
      create,
      begin: async () => void (firstId = await create()),
      update: () => write('PATCH', `/api/tasks/${firstId}`, 200, { completed: n % 2 === 0 }),
      close: () => client.close(),
    };
  });
  const next = inTurns(owners);
  return {
    /** The first task of each. */
    begin: () => Promise.all(owners.map((owner) => owner.begin())),
    /** Another task of the next owner. */
    create: () => next().create(),
    /** The next owner's first task gets another title. */
    update: () => next().update(),
    close: () => Promise.all(owners.map((owner) => owner.close())),
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
