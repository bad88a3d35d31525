import { createRandom, eventually, fastestOf, nodeEnvironment } from '@taskmesh/testing';
import { execFile } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { promisify } from 'node:util';
import { useProduct } from '../product.ts';
import { createDevice, readList, shownBy, type Device, type Transport } from './device.ts';
import { newAccount } from '../http.ts';

const README = join(import.meta.dirname, '../../packages/client/README.md');
/** How long the network misbehaves: for a dozen cuts of the devices together, or longer in a long run. */
const TROUBLE_MS = process.env.TASKMESH_LONG ? 12_000 : 3_000;
/** The time from the last cut until every list must equal the server's. */
const EQUAL_WITHIN_MS = 2_000;
const SEED = 17;

const product = useProduct('start');

/** Disturbs the devices of an account while they write, and expects that all lists become equal. */
async function stayEqual(transport: Transport): Promise<void> {
  const device = () => createDevice(product().url, transport);
  const account = newAccount();
  const first = await device();
  const all = [first, await device(), await device()];
  await first.client.signUp({ ...account, name: 'Ada' });
  for (const { client } of all.slice(1)) await client.signIn(account);
  for (const { list } of all) await eventually(() => expect(list.get().status).toBe('live'));

  const random = createRandom(SEED);
  const created: string[] = [];
  const writes: Promise<unknown>[] = [];
  const refused: unknown[] = [];
  const until = performance.now() + TROUBLE_MS;
  const write = async ({ client, list }: Device) => {
    while (performance.now() < until) {
      const { tasks } = list.get();
      const task = tasks[Math.floor(random() * tasks.length)];
      if (!task || random() < 0.5) {
        const title = `task ${created.length}`;
        created.push(title);
        writes.push(client.createTask({ title }));
      } else {
        const changed = client.updateTask(task.id, { completed: random() < 0.5 });
        writes.push(changed.catch((error: unknown) => refused.push(error)));
      }
      await sleep(20 + random() * 60);
    }
  };
  const disturb = async ({ network }: Device) => {
    while (performance.now() < until) {
      await sleep(random() * 800);
      if (random() < 0.3) network.strand();
      await network.cut();
      await sleep(random() * 300);
      await network.restore();
    }
  };
  await Promise.all(all.flatMap((each) => [write(each), disturb(each)]));

  const allEqual = () =>
    eventually(() => {
      for (const each of all) {
        expect(each.client.pendingWrites()).toBe(0);
        expect(each.list.get().status).toBe('live');
        expect(shownBy(each)).toEqual(shownBy(first));
      }
    });
  await allEqual();
  const equalMs = await fastestOf(async () => {
    await Promise.all(all.map(({ network }) => network.cut()));
    const title = `task ${created.length}`;
    created.push(title);
    writes.push(first.client.createTask({ title }));
    await Promise.all(all.map(({ network }) => network.restore()));
    const lastCut = performance.now();
    await allEqual();
    return performance.now() - lastCut;
  });
  expect(equalMs).toBeLessThan(EQUAL_WITHIN_MS);
  await Promise.all(writes);
  const expected = await readList(product().url, account);
  expect(shownBy(first)).toEqual(expected);
  expect(refused).toEqual([]);
  expect(expected.map(({ title }) => title).toSorted()).toEqual(created.toSorted());
  for (const { list } of all) expect(list.get().tasks.some(({ isPending }) => isPending)).toBe(false);
  const connections = all.map(({ network }) => network.connections()).join(', ');
  const done = `${created.length} tasks, ${writes.length} writes, ${connections} connections`;
  console.log(`${transport}: ${done}; equal ${Math.round(equalMs)} ms after the last cut`);
}

it('lists over each transport are equal on all devices soon after the last cut, with each created task exactly once', async () => {
  await Promise.all((['graphql-ws', 'sse'] as const).map(stayEqual));
});

it('the example in the client’s README runs, and prints its list', async () => {
  const [, example = ''] = /```js\n([^]*?)```/.exec(readFileSync(README, 'utf8')) ?? [];
  const { stdout } = await promisify(execFile)(process.execPath, ['--input-type=module', '--eval', example], {
    cwd: import.meta.dirname,
    env: { ...nodeEnvironment(), TASKMESH_URL: product().url },
  });
  const lines = stdout.split('\n').map((line) => line.trim());
  // The status in the first word depends on the speed of the machine.
  const tasks = lines.map((line) => line.replace(/^\S+ /, ''));
  expect(tasks).toContain('1 Water the plants …');
  expect(tasks.indexOf('1 Water the plants')).toBeGreaterThan(tasks.indexOf('1 Water the plants …'));
  expect(lines.filter((line) => line !== '').at(-1)).toBe('signed-out 0');
});
