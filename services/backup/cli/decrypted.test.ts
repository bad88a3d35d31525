import { generateX25519Identity } from 'age-encryption';
import { once } from 'node:events';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { buffer } from 'node:stream/consumers';
import { createArchiveCipher } from '../src/archives/encryption.ts';
import { run } from './run.ts';

const KEY = await generateX25519Identity();
const STRANGERS_KEY = await generateX25519Identity();
const CONTENT = Buffer.alloc(300_000, 'x');

let dir: string;
beforeAll(async () => {
  dir = await mkdtemp(join(tmpdir(), 'taskmesh-cli-'));
  await writeFile(join(dir, 'key.txt'), `${KEY}\n`, { mode: 0o600 });
  await writeFile(join(dir, 'strangers.txt'), `${STRANGERS_KEY}\n`, { mode: 0o600 });
});
afterAll(() => rm(dir, { recursive: true }));

async function encrypted(): Promise<Buffer> {
  const cipher = await createArchiveCipher({ identities: [KEY], recipients: [] });
  return buffer((await cipher?.encrypt(Readable.from([CONTENT]))) ?? Readable.from([]));
}

async function restoreWith(
  key: string,
  stored: Buffer,
  restored = true,
  message = restored ? 'Database restored.' : 'Failed.',
) {
  const archives = new Map([['secret.tar.gz.age', stored]]);
  const restores: (Buffer | undefined)[] = [];
  const heard: string[] = [];
  // prettier-ignore
  const answer = async (request: IncomingMessage, response: ServerResponse) => {
    const { pathname, searchParams } = new URL(request.url ?? '', 'http://x');
    const file = decodeURIComponent(pathname.split('/').at(-1) ?? '');
    const json = (status: number, body: object) => response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body)); // prettier-ignore
    const body = await buffer(request).catch(() => undefined);
    heard.push(JSON.stringify([request.url, request.headers]));
    if (request.method === 'GET') response.end(archives.get(file));
    else if (request.method === 'PUT' && body) json(201, { success: true, message: 'Stored.', data: archives.set(file, body) && {} });
    else if (request.method === 'DELETE') json(archives.delete(file) ? 200 : 404, { success: true, message: 'Deleted.' });
    else if (request.method === 'POST') {
      restores.push(archives.get(searchParams.get('file') ?? ''));
      json(restored ? 200 : 500, { success: restored, message, databaseRestored: restored });
    }
  };
  const server = createServer((request, response) => void answer(request, response)).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const text = { out: '', err: '' };
  const output = (to: 'out' | 'err') => ({ write: (more: string) => void (text[to] += more) });
  const args = ['restore', 'secret.tar.gz.age', '--yes', '--identity', key, '--url', url];
  const status = await run({ args, env: {}, out: output('out'), err: output('err'), cwd: dir, ask: undefined });
  server.closeAllConnections();
  server.close();
  return { status, ...text, restores, left: [...archives.keys()], heard: heard.join() };
}

describe('a restore with a key that is here', () => {
  it('brings the archive decrypted, and leaves neither that nor the key', async () => {
    const ran = await restoreWith('key.txt', await encrypted());
    expect(ran).toMatchObject({ status: 0, out: 'Database restored.\n', left: ['secret.tar.gz.age'] });
    expect(ran.restores).toEqual([CONTENT]);
    expect(ran.heard).toContain('&decryptedFrom=secret.tar.gz.age"');
    expect(ran.heard).not.toContain('AGE-SECRET-KEY');
  });

  it('shows no name out of an archive to the terminal as a command', async () => {
    const { out } = await restoreWith(
      'key.txt',
      await encrypted(),
      true,
      'not restored (the table \u001b[2J is not named)',
    );
    expect(out).toBe('not restored (the table ?[2J is not named)\n');
  });

  it.each([
    ['none.txt', /^--identity must name a readable file \(is: "[^"]*none\.txt"\)\.\n/],
    ['nonsense.txt', /^--identity must name a file of age identities/],
  ])('is wrongly used with %s', async (key, message) => {
    await writeFile(join(dir, 'nonsense.txt'), 'nonsense', { mode: 0o600 });
    const ran = await restoreWith(key, await encrypted());
    expect(ran).toMatchObject({ status: 2, err: expect.stringMatching(message), restores: [], heard: '' });
  });

  it.each([
    ['the key is another one', 'strangers.txt', async () => encrypted(), true, 'encrypted with another key'],
    ['the archive was changed', 'key.txt', async () => (await encrypted()).fill(0, 250_000, 250_010), true, 'changed'],
    ['the restore fails', 'key.txt', async () => encrypted(), false, 'Failed.'],
  ])('leaves nothing when %s', async (_what, key, stored, restored, message) => {
    const ran = await restoreWith(key, await stored(), restored);
    expect(ran).toMatchObject({ status: 1, left: ['secret.tar.gz.age'], err: expect.stringContaining(message) });
    expect(ran.restores.filter((content) => !content?.equals(CONTENT))).toEqual([]);
  });
});
