import { eventually } from '@taskmesh/testing';
import { globSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { createRest, readCursor, register } from '../../http.ts';
import { subscribe } from '../../feed/streams/protocols.ts';

interface Seen {
  services: { name: string; store: object | null }[];
  feed: { epoch: number; deadLetters: { gateway: number } };
}

type Letter = Record<'id' | 'source' | 'ownerId' | 'record', string> & { canReplay: boolean };

const statusAt = async (url: string) => (await createRest(url)<{ data: Seen }>('GET', '/operations/status')).body.data;

/** The operators' API at the public address, and its authorization. */
export function describeOperations(platform: () => { urls: string[]; dataDir: string; eventLog: 'kafka' | 'memory' }) {
  const rest = createRest(() => platform().urls[0] ?? '');
  const tokenFile = () => join(platform().dataDir, 'keys', 'machine-token');
  const token = () => readFileSync(tokenFile(), 'utf8').trim();

  it('shows operators every part, and that all is well', async () => {
    for (const url of platform().urls)
      await eventually(async () => {
        const seen = await statusAt(url);
        expect(seen).toMatchObject({
          problems: [],
          services: ['gateway', 'auth', 'tasks', 'backup'].map((name) => ({ name, isUp: true })),
          eventLog: { system: platform().eventLog, isUpForTasks: true, isUpForGateway: true },
          backups: { archives: { count: expect.any(Number) } },
        });
        expect(seen.feed.epoch).toBeGreaterThan(0);
        for (const { name, store } of seen.services)
          expect(store).toEqual(name === 'gateway' ? null : expect.objectContaining({ isUp: true, missing: [] }));
      });
  });

  it('accepts its own pages on this machine as operators, with a token that only its owner can read', async () => {
    expect(statSync(tokenFile()).mode & 0o777).toBe(0o600);
    const check = async (origin: string, bearer?: string) =>
      (await rest('POST', '/operations/check', { ...(bearer && { token: bearer }), headers: { origin } })).status;
    const [own = ''] = platform().urls;
    expect(await check(own, token())).toBe(200);
    expect(await check(own)).toBe(401);
    expect(await check(own, `${token()}x`)).toBe(401);
    for (const foreign of ['https://evil.example', own.replace('127.0.0.1', 'localhost'), 'null'])
      expect(await check(foreign, token())).toBe(403);
  });

  it('writes that token nowhere else', () => {
    const { dataDir } = platform();
    const secret = token();
    const files = globSync('**/*.{log,json}', { cwd: dataDir });
    expect(files.length).toBeGreaterThan(1);
    expect(files.filter((file) => readFileSync(join(dataDir, file), 'utf8').includes(secret))).toEqual([]);
  });
}

type Spoil = (ownerId: string, record: string) => Promise<void>;

/** How operators deal with foreign records in the event log. `spoil`: publishes one under an owner's key. */
export function describeDeadLetters(platform: () => { urls: string[]; spoil: Spoil }) {
  const rest = createRest(() => platform().urls[0] ?? '');

  it('shows records that a gateway could not read, publishes the change again, and discards the rest', async () => {
    const { urls, spoil } = platform();
    const [url = ''] = urls;
    const owner = await register(url);
    const reading = await subscribe(urls, owner.token, await readCursor(url, owner.token));
    await owner.create('read by everybody');
    await eventually(() => expect(reading.changes()).toHaveLength(1));

    const list = async () => {
      const { body } = await rest<{ data: Letter[] }>('GET', '/operations/dead-letters');
      return body.data.filter(({ ownerId }) => ownerId === owner.id);
    };
    const garbage = ['{"sequence":1,"from":"the future"}', 'nothing that is known'];
    for (const record of garbage) await spoil(owner.id, record);
    await eventually(async () => expect((await list()).map(({ record }) => record).toSorted()).toEqual(garbage.toSorted())); // prettier-ignore
    const letters = await list();
    for (const { source, canReplay, record } of letters)
      expect([source, canReplay]).toEqual(['gateway', record.startsWith('{')]);
    await eventually(async () => expect((await statusAt(url)).feed.deadLetters.gateway).toBe(2));

    for (const { id, canReplay } of letters) {
      const replayed = await rest('POST', `/operations/dead-letters/${id}/replay`);
      expect([canReplay, replayed.status]).toEqual([canReplay, canReplay ? 200 : 404]);
      if (!canReplay) expect((await rest('DELETE', `/operations/dead-letters/${id}`)).status).toBe(200);
    }
    await eventually(async () => expect(await list()).toEqual([]));
    // The reader already had the change, and must not get it again.
    await owner.create('the next one');
    await eventually(() => expect(reading.changes().map(({ sequence }) => sequence)).toEqual([1, 2]));
    await reading.close();
  });
}
