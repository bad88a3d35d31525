import { Readable } from 'node:stream';
import type { Client } from 'pg';
import { writeRows } from './dump-database.ts';

const table = { name: 'tasks', sqlName: 'public.tasks', columns: [{ name: 'id', sqlName: 'id' }] };

it('reading the rows of a table fails without crashing the process if the connection is lost right after the query is sent', async () => {
  const copy = new Readable({ read: () => undefined });
  let isCaught = false;
  const lose = () => {
    isCaught = copy.listenerCount('error') > 0;
    copy.once('error', () => undefined).destroy(new Error('the connection was lost'));
  };
  const query = () => {
    process.nextTick(lose);
    return copy;
  };
  const write = () => new Promise<void>((resolve) => setImmediate(resolve)); // a slow disk
  await expect(writeRows({ query } as unknown as Client, { write }, table)).rejects.toThrow('the connection was lost');
  expect(isCaught).toBe(true);
});
