import { atEnd, createRandom, eventually, numberFromEnv } from '@taskmesh/testing';
import { readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { clientOf, type Task } from '../contract/client.ts';
import { PROTOCOLS } from '../feed/streams/protocols.ts';
import { useEmbedded } from '../embedded.ts';
import { startProduct } from '../product.ts';
import { expectKept, underLoad } from './campaign.ts';
import { freeze } from './inject.ts';

const SEED = numberFromEnv('TASKMESH_SEED', 20_261_127);
/** How often each stream must reconnect. */
const RETURNS = 3;

describe('the embedded platform', () => {
  const lines: string[] = [];
  const settings = () => ({ REALTIME_MAX_CONNECTION_AGE_S: '1' });
  const { platform } = useEmbedded(settings, (line) => lines.push(line));

  it('loses, repeats and reorders nothing in any protocol if connections are closed after a second', async () => {
    const load = {
      ...{ urls: [platform().url], names: [`aging-of-${SEED}`], random: createRandom(SEED), paceMs: 20 },
      // Without `repeatsBehindCursor`: even a channel sends the cursor of its last change before it ends.
      protocols: PROTOCOLS.map(({ protocol, connect }) => ({ protocol, connect })),
    };
    const kept = await underLoad(load, async ([account]) => {
      const resumes = () => Math.min(...(account?.streams ?? []).map((stream) => stream.resumes()));
      await eventually(() => expect(resumes()).toBeGreaterThanOrEqual(RETURNS), { timeoutMs: 60_000 });
    });
    expectKept(kept);
  }, 180_000);

  it('reports only that PostgreSQL does not respond while it is frozen', async () => {
    const { call } = clientOf(platform);
    const problems = async () =>
      (await call<{ data: { problems: string[] } }>('GET', '/api/operations/status')).body.data.problems;
    await eventually(async () => expect(await problems()).toEqual([]));
    const thaw = freeze(platform().postgresPid ?? 0);
    atEnd(thaw); // also if it is not reported
    const databases = ['auth', 'tasks', 'backup'].map((name) => `The database of ${name} does not respond.`);
    await eventually(async () => expect(await problems()).toEqual(databases));
    thaw();
    await eventually(async () => expect(await problems()).toEqual([]), { timeoutMs: 20_000 });
  }, 60_000);

  it('survives a kill of its PostgreSQL under writes in seconds, reports it in a line, and loses no acknowledged write', async () => {
    const client = clientOf(platform);
    const { token } = await client.signUp();
    const acknowledged: string[] = [];
    const write = async () => {
      const { status, body } = await client.call('POST', '/api/tasks', { token, json: { title: 'a task' } });
      if (status === 201) acknowledged.push(body.data.id);
      else expect(status).toBe(503);
      return status;
    };
    for (let count = 0; count < 20; count += 1) await write();

    lines.length = 0;
    const victim = platform().postgresPid ?? 0;
    const underWay = Array.from({ length: 10 }, write);
    process.kill(victim, 'SIGKILL');
    await Promise.all(underWay);
    await eventually(async () => (await write()) === 201, { timeoutMs: 20_000 });

    // Sessions of the killed server may still have answered.
    await eventually(async () => {
      const { body } = await client.call<{ data?: Task[] }>('GET', '/api/tasks', { token });
      expect(body.data?.map(({ id }) => id)).toEqual(expect.arrayContaining(acknowledged));
    });
    expect(acknowledged.length).toBeGreaterThan(20);
    // PostgreSQL accepts writes a moment before the supervisor notices that it is back.
    await eventually(() =>
      expect(lines).toEqual([
        expect.stringMatching(/^PostgreSQL ended \(signal SIGKILL\), restarting it in 200 ms\. Log: /),
        ...lines.slice(1, -1).map(() => expect.stringContaining('left over from an earlier run')),
        `PostgreSQL is back (process ${platform().postgresPid}).`,
      ]),
    );
    expect(platform().postgresPid).not.toBe(victim);
  }, 180_000);
});

it('the product exits with an explanation and an exit code if its PostgreSQL does not come back', async () => {
  const { dataDir, ended, output } = await startProduct('start');
  atEnd(() => rmSync(dataDir, { recursive: true, force: true }));
  writeFileSync(join(dataDir, 'postgres', 'PG_VERSION'), '17\n');
  const noted = readFileSync(join(dataDir, 'run', 'postgres.pid.json'), 'utf8');
  process.kill((JSON.parse(noted) as { pid: number }).pid, 'SIGKILL');
  expect(await ended).toBe('1');
  expect(output()).toMatch(/^PostgreSQL does not stay up: it was restarted 5 times\. Log: /m);
  expect(output()).not.toMatch(/^ +at /m);
});
