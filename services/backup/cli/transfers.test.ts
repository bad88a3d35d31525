import { atEnd, eventually, listen, makeTempDir, nodeEnvironment } from '@taskmesh/testing';
import { generateX25519Identity } from 'age-encryption';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { join } from 'node:path';
import { buffer } from 'node:stream/consumers';
import { fileURLToPath } from 'node:url';
import { createInterruption } from './interruption.ts';
import { encrypted } from '../tests/support/ciphers.ts';
import { runCommand } from '../tests/support/command-line.ts';

const MAIN = fileURLToPath(new URL('./main.ts', import.meta.url));
const KEY = await generateX25519Identity();
const SECRET = 'secret.tar.gz.age';
const MIB = 1024 * 1024;
const CONTENT = Buffer.alloc(4 * MIB, 'x');

const dir = makeTempDir();
await writeFile(join(dir, 'key.txt'), `${KEY}\n`, { mode: 0o600 });
await writeFile(join(dir, 'strangers.txt'), `${await generateX25519Identity()}\n`, { mode: 0o600 });
await writeFile(join(dir, 'nonsense.txt'), 'nonsense', { mode: 0o600 });
const stored = await encrypted(CONTENT, KEY);
const KEYS = ['key.txt', 'nonsense.txt', 'strangers.txt'];
afterEach(async () => expect((await readdir(dir)).toSorted()).toEqual(KEYS));

/** The moment at which it pauses until the test lets it continue. */
type Moment = 'download' | 'upload' | 'stored' | 'restore' | 'never';

/** Starts a fake Taskmesh with one encrypted archive, until the end of the test. */
async function startTaskmesh(
  moment: Moment,
  { content = stored, end = { databaseRestored: true }, status = 200, uploadStatus = 201 } = {},
) {
  const archives = new Map([[SECRET, content]]);
  const restores: (Buffer | undefined)[] = [];
  const heard: string[] = [];
  const reached = Promise.withResolvers<void>();
  const goOn = Promise.withResolvers<void>();
  const stop = async () => {
    reached.resolve();
    await goOn.promise;
  };
  const json = (response: ServerResponse, code: number, data: object) =>
    response.writeHead(code, { 'content-type': 'application/json' }).end(JSON.stringify({ message: 'Done.', ...data }));

  const answer = async (request: IncomingMessage, response: ServerResponse) => {
    const { pathname, searchParams } = new URL(request.url ?? '', 'http://x');
    const file = decodeURIComponent(pathname.split('/').at(-1) ?? '');
    heard.push(JSON.stringify([request.url, request.headers]));
    switch (request.method) {
      case 'GET':
        response.setHeader('content-length', content.length);
        if (moment !== 'download') return response.end(content);
        response.write(content.subarray(0, MIB));
        await stop();
        return response.end(content.subarray(MIB));
      case 'PUT': {
        if (moment === 'upload') request.once('data', () => reached.resolve());
        const sent = await buffer(request);
        if (moment === 'stored') await stop();
        if (uploadStatus === 201) archives.set(file, sent);
        return json(response, uploadStatus, { data: {} });
      }
      case 'DELETE':
        return json(response, archives.delete(file) ? 200 : 404, {});
      default:
        restores.push(archives.get(searchParams.get('file') ?? ''));
        if (moment === 'restore') await stop();
        return json(response, status, end);
    }
  };
  const server = createServer((request, response) => void answer(request, response).catch(() => undefined));
  const { url } = await listen(server);
  atEnd(goOn.resolve);
  return {
    ...{ url, restores, heard, reached: reached.promise, goOn: goOn.resolve },
    disconnect: () => server.closeAllConnections(),
    left: () => [...archives.keys()],
    close() {
      server.close();
      server.closeAllConnections();
    },
  };
}

const command = ({ url }: { url: string }, args: string[], interrupted?: AbortSignal) =>
  runCommand([...args, '--url', url], { cwd: dir, ...(interrupted && { interrupted }) });

const restoreWith = (key: string) => ['restore', SECRET, '--yes', '--identity', key];
const RESTORE = restoreWith('key.txt');
const DOWNLOAD = ['download', SECRET];
const MAY_STILL_EXIST = expect.stringMatching(/archive decrypted-[0-9a-f-]+\.tar\.gz may still exist: delete it\./);

describe('a restore with a local key', () => {
  it('uploads the archive decrypted and deletes it afterwards, never sends the key, and escapes names in the response', async () => {
    const end = { databaseRestored: true, message: 'Database restored (\u001b[2J).' };
    const taskmesh = await startTaskmesh('never', { end });
    expect(await command(taskmesh, RESTORE)).toMatchObject({ status: 0, out: 'Database restored (?[2J).\n' });
    const [restored, ...others] = taskmesh.restores;
    expect([restored?.equals(CONTENT), others, taskmesh.left()]).toEqual([true, [], [SECRET]]);
    expect(taskmesh.heard.join()).toContain(`&decryptedFrom=${SECRET}"`);
    expect(taskmesh.heard.join()).not.toContain('AGE-SECRET-KEY');
  });

  it.each([
    ['none.txt', /^--identity must name a readable file \(is: not shown\)\.\n/],
    ['nonsense.txt', /^--identity must name a file of age identities/],
  ])('is a usage error with %s', async (key, message) => {
    const taskmesh = await startTaskmesh('never');
    expect(await command(taskmesh, restoreWith(key))).toMatchObject({ status: 2, err: expect.stringMatching(message) });
    expect(taskmesh.heard).toEqual([]);
  });

  it.each([
    ['the key is wrong', 'strangers.txt', {}, 'encrypted with another key'],
    ['the archive was changed', 'key.txt', { content: () => Buffer.from(stored).fill(0, 2 * MIB, 2 * MIB + 9) }, 'changed'],
    ['the restore fails', 'key.txt', { status: 500, end: { databaseRestored: false, message: 'Failed.' } }, 'Failed.'],
  ])('leaves nothing behind when %s', async (_what, key, { content, ...answer }: { content?: () => Buffer; status?: number }, message) => {
    const taskmesh = await startTaskmesh('never', { ...answer, ...(content && { content: content() }) });
    expect(await command(taskmesh, restoreWith(key))).toMatchObject({ status: 1, err: expect.stringContaining(message) });
    expect(taskmesh.left()).toEqual([SECRET]);
    expect(taskmesh.restores.filter((restored) => !restored?.equals(CONTENT))).toEqual([]);
  }); // prettier-ignore
});

it.each([
  ['whose connection broke', 3, false],
  ['whose connection broke after an interruption', 130, true],
])('an upload %s is reported by a restore, because it may still arrive', async (_what, status, isInterrupted) => {
  const taskmesh = await startTaskmesh('stored');
  const { signal, interrupt } = createInterruption();
  const restoring = command(taskmesh, RESTORE, signal);
  await taskmesh.reached;
  if (isInterrupted) interrupt('SIGINT');
  taskmesh.disconnect();
  expect(await restoring).toMatchObject({ status, err: MAY_STILL_EXIST });
});

it('a restore reports an upload to which only a proxy responded, but not one that was refused', async () => {
  const outcome = async (uploadStatus: number) => command(await startTaskmesh('never', { uploadStatus }), RESTORE);
  expect(await outcome(504)).toMatchObject({ status: 1, err: MAY_STILL_EXIST });
  expect((await outcome(413)).err).not.toContain('may still exist');
});

describe('an interrupted command', () => {
  async function interrupt(args: string[], moment: Moment, isLost = false) {
    const taskmesh = await startTaskmesh(moment);
    const { signal, interrupt } = createInterruption();
    const running = command(taskmesh, args, signal);
    await taskmesh.reached;
    if (isLost) taskmesh.close();
    interrupt(isLost ? 'SIGTERM' : 'SIGINT');
    if (moment === 'stored') taskmesh.goOn();
    return { ...(await running), left: taskmesh.left() };
  }

  it.each<Moment>(['download', 'upload', 'stored', 'restore'])(
    'leaves no decrypted archive behind during: %s',
    async (moment) => {
      const err = expect.stringContaining('Interrupted.');
      expect(await interrupt(RESTORE, moment)).toMatchObject({ status: 130, left: [SECRET], err });
    },
  );

  it('reports when the decrypted archive may still exist', async () =>
    expect(await interrupt(RESTORE, 'restore', true)).toMatchObject({ status: 143, err: MAY_STILL_EXIST }));

  it('leaves no partial download behind, and stops waiting at once for work that continues without it', async () => {
    expect(await interrupt(DOWNLOAD, 'download')).toMatchObject({ status: 130 });
    const err = expect.stringContaining('Taskmesh continues what it has started.');
    expect(await interrupt(['create'], 'restore')).toMatchObject({ status: 130, err });
  });

  it('cleans up on every signal, and exits with its number', () =>
    Promise.all([endBy('SIGINT', 130), endBy('SIGTERM', 143), endBy('SIGHUP', 129)]));

  async function endBy(signal: NodeJS.Signals, status: number): Promise<void> {
    const taskmesh = await startTaskmesh('restore');
    const env = { ...nodeEnvironment(), INIT_CWD: dir };
    const child = spawn(process.execPath, [MAIN, ...RESTORE, '--url', taskmesh.url], { env, stdio: 'ignore' });
    await taskmesh.reached;
    expect(taskmesh.left()).toHaveLength(2);
    child.kill(signal);
    const [code] = await once(child, 'exit');
    expect([signal, code]).toEqual([signal, status]);
    await eventually(() => expect(taskmesh.left()).toEqual([SECRET]));
  }
});

it('a download does not replace a file that appeared meanwhile', async () => {
  const taskmesh = await startTaskmesh('download');
  const downloading = command(taskmesh, DOWNLOAD);
  await taskmesh.reached;
  await writeFile(join(dir, SECRET), 'of another program');
  taskmesh.goOn();
  expect(await downloading).toMatchObject({ status: 2, err: expect.stringContaining(' already exists. ') });
  expect(await readFile(join(dir, SECRET), 'utf8')).toBe('of another program');
  await rm(join(dir, SECRET));
});

it.each([['as a file', DOWNLOAD], ['for a restore', RESTORE]])(
  'a download that breaks off is reported as a network failure and leaves nothing behind: %s',
  async (_what, args) => {
    const [broken, whole] = [await startTaskmesh('download'), await startTaskmesh('never')];
    const breaking = command(broken, args);
    await broken.reached;
    expect(await command(whole, DOWNLOAD)).toMatchObject({ status: 0 });
    broken.close();
    const err = expect.stringContaining(`The connection to ${broken.url}`);
    expect(await breaking).toMatchObject({ status: 3, err });
    expect(stored.equals(await readFile(join(dir, SECRET)))).toBe(true); // toEqual takes seconds
    await rm(join(dir, SECRET));
  },
); // prettier-ignore
