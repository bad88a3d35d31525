import { eventually, nodeEnvironment } from '@taskmesh/testing';
import { generateX25519Identity } from 'age-encryption';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { buffer } from 'node:stream/consumers';
import { fileURLToPath } from 'node:url';
import { createArchiveCipher } from '../src/archives/encryption.ts';
import { createInterruption } from './interruption.ts';
import { run } from './run.ts';

const MAIN = fileURLToPath(new URL('./main.ts', import.meta.url));
const KEY = await generateX25519Identity();
const MIB = 1024 * 1024;

let dir: string;
let stored: Buffer;
beforeAll(async () => {
  dir = await mkdtemp(join(tmpdir(), 'taskmesh-interrupted-'));
  await writeFile(join(dir, 'key.txt'), `${KEY}\n`, { mode: 0o600 });
  const cipher = await createArchiveCipher({ identities: [KEY], recipients: [] });
  stored = await buffer((await cipher?.encrypt(Readable.from([Buffer.alloc(4 * MIB, 'x')]))) ?? Readable.from([]));
});
afterAll(() => rm(dir, { recursive: true }));

type Moment = 'download' | 'upload' | 'stored' | 'restore';

async function startTaskmesh(moment: Moment) {
  const archives = new Map([['secret.tar.gz.age', stored]]);
  const reached = Promise.withResolvers<void>();
  const goOn = Promise.withResolvers<void>();
  const stop = async () => {
    reached.resolve();
    await goOn.promise;
  };
  const json = (response: ServerResponse, status: number, data: object) =>
    response
      .writeHead(status, { 'content-type': 'application/json' })
      .end(JSON.stringify({ message: 'Done.', ...data }));

  const take = async (request: IncomingMessage, file: string) => {
    const parts: Buffer[] = [];
    for await (const part of request as AsyncIterable<Buffer>) {
      parts.push(part);
      if (moment === 'upload') reached.resolve();
    }
    if (moment === 'stored') await stop();
    archives.set(file, Buffer.concat(parts));
  };
  const answer = async (request: IncomingMessage, response: ServerResponse) => {
    const file = decodeURIComponent(new URL(request.url ?? '', 'http://x').pathname.split('/').at(-1) ?? '');
    switch (request.method) {
      case 'GET':
        response.setHeader('content-length', stored.length);
        if (moment !== 'download') return response.end(stored);
        response.write(stored.subarray(0, MIB));
        await stop();
        return response.end(stored.subarray(MIB));
      case 'PUT':
        await take(request, file);
        return json(response, 201, { data: {} });
      case 'DELETE':
        return json(response, archives.delete(file) ? 200 : 404, {});
      default:
        if (moment === 'restore') await stop();
        return json(response, 200, { databaseRestored: true });
    }
  };
  const server = createServer((request, response) => void answer(request, response).catch(() => undefined));
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    reached: reached.promise,
    goOn: goOn.resolve,
    left: () => [...archives.keys()],
    close() {
      goOn.resolve();
      server.closeAllConnections();
      server.close();
    },
  };
}

const RESTORE = ['restore', 'secret.tar.gz.age', '--yes', '--identity', 'key.txt'];

async function interrupt(args: string[], moment: Moment) {
  const taskmesh = await startTaskmesh(moment);
  const { signal, interrupt } = createInterruption();
  const text = { out: '', err: '' };
  const output = (to: 'out' | 'err') => ({ write: (more: string) => void (text[to] += more) });
  const running = run({
    ...{ args: [...args, '--url', taskmesh.url], env: {}, cwd: dir, ask: undefined, interrupted: signal },
    ...{ out: output('out'), err: output('err') },
  });
  await taskmesh.reached;
  interrupt('SIGINT');
  if (moment === 'stored') taskmesh.goOn();
  const status = await running;
  const left = taskmesh.left();
  taskmesh.close();
  return { status, left, ...text };
}

describe('a restore with a key that is here, interrupted', () => {
  it.each<Moment>(['download', 'upload', 'stored', 'restore'])(
    'leaves no decrypted archive in the middle of: %s',
    async (moment) => {
      const { status, left, err } = await interrupt(RESTORE, moment);
      expect(left).toEqual(['secret.tar.gz.age']);
      expect(status).toBe(130);
      expect(err).toContain('Interrupted.');
    },
  );

  it('says when the decrypted archive may be there still', async () => {
    const taskmesh = await startTaskmesh('restore');
    const { signal, interrupt } = createInterruption();
    let err = '';
    const running = run({
      ...{ args: [...RESTORE, '--url', taskmesh.url], env: {}, cwd: dir, ask: undefined, interrupted: signal },
      ...{ out: { write: () => undefined }, err: { write: (text: string) => void (err += text) } },
    });
    await taskmesh.reached;
    taskmesh.close();
    interrupt('SIGTERM');
    expect(await running).toBe(143);
    expect(err).toMatch(/The decrypted archive decrypted-[0-9a-f-]+\.tar\.gz may be there still: delete it\./);
  });
});

it('a download that is interrupted leaves nothing', async () => {
  expect(await interrupt(['download', 'secret.tar.gz.age'], 'download')).toMatchObject({ status: 130 });
  expect(await readdir(dir)).toEqual(['key.txt']);
});

it('a download leaves a file alone that another program has left, and does not share one with another download', async () => {
  const taskmesh = await startTaskmesh('download');
  const download = (url: string) =>
    run({
      ...{ args: ['download', 'secret.tar.gz.age', '--url', url], env: {}, cwd: dir, ask: undefined },
      ...{ out: { write: () => undefined }, err: { write: () => undefined } },
    });
  await writeFile(join(dir, 'secret.tar.gz.age.part'), 'of a browser');
  const cutOff = download(taskmesh.url);
  await taskmesh.reached;
  const whole = await startTaskmesh('restore');
  expect(await download(whole.url)).toBe(0);
  taskmesh.close();
  expect(await cutOff).not.toBe(0);
  whole.close();
  expect(await readFile(join(dir, 'secret.tar.gz.age'))).toEqual(stored);
  expect(await readFile(join(dir, 'secret.tar.gz.age.part'), 'utf8')).toBe('of a browser');
  for (const name of ['secret.tar.gz.age', 'secret.tar.gz.age.part']) await rm(join(dir, name));
  expect(await readdir(dir)).toEqual(['key.txt']);
});

it('a download replaces no file that appeared meanwhile', async () => {
  const taskmesh = await startTaskmesh('download');
  let err = '';
  const downloading = run({
    ...{ args: ['download', 'secret.tar.gz.age', '--url', taskmesh.url], env: {}, cwd: dir, ask: undefined },
    ...{ out: { write: () => undefined }, err: { write: (text: string) => void (err += text) } },
  });
  await taskmesh.reached;
  await writeFile(join(dir, 'secret.tar.gz.age'), 'of another program');
  taskmesh.goOn();
  expect([await downloading, err]).toEqual([2, expect.stringContaining('There is a file ')]);
  taskmesh.close();
  expect(await readFile(join(dir, 'secret.tar.gz.age'), 'utf8')).toBe('of another program');
  await rm(join(dir, 'secret.tar.gz.age'));
  expect(await readdir(dir)).toEqual(['key.txt']);
});

it('what is only waited for is not waited for any longer', async () => {
  expect(await interrupt(['create'], 'restore')).toMatchObject({
    status: 130,
    err: expect.stringContaining('What Taskmesh has begun goes on.'),
  });
});

it.each([
  ['SIGINT', 130],
  ['SIGTERM', 143],
  ['SIGHUP', 129],
] as const)(
  'a process that gets %s clears up, and ends with %i',
  async (signal, status) => {
    const taskmesh = await startTaskmesh('restore');
    const env = { ...nodeEnvironment(), INIT_CWD: dir };
    const child = spawn(process.execPath, [MAIN, ...RESTORE, '--url', taskmesh.url], { env, stdio: 'ignore' });
    await taskmesh.reached;
    expect(taskmesh.left()).toHaveLength(2);
    child.kill(signal);
    const [code] = await once(child, 'exit');
    expect(code).toBe(status);
    await eventually(() => expect(taskmesh.left()).toEqual(['secret.tar.gz.age']));
    taskmesh.close();
  },
  60_000,
);
