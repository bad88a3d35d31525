import { createSigningKey, type KeySet } from '@taskmesh/identity';
import { createLog } from '@taskmesh/service';
import { makeTempDir } from '@taskmesh/testing';
import type { JWK } from 'jose';
import { readFile, rm, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { createKeyRing } from '../src/keys/key-ring.ts';
import { runAuth } from './support/running-auth.ts';

const log = createLog({ service: 'auth', level: 'silent' });

async function writeKeys(file: string, ...keys: JWK[]): Promise<void> {
  await writeFile(file, JSON.stringify({ keys }));
}

const kidsOf = ({ keys }: KeySet) => keys.map(({ kid }) => kid);

describe('the keys of access tokens', () => {
  let dir: string;
  let file: string;
  beforeEach(async () => {
    dir = makeTempDir();
    file = join(dir, 'keys.json');
  });

  it('are created if missing, readable only by the owner, and published without the private part', async () => {
    const running = await runAuth();
    const own = join(running.dataDir, 'keys', 'access-token-keys.json');
    expect((await stat(own)).mode & 0o777).toBe(0o600);
    const [stored] = JSON.parse(await readFile(own, 'utf8')).keys;
    expect(stored.d).toEqual(expect.any(String));
    const { d: _private, ...shown } = stored;
    expect(await running.auth.internal.accessTokenKeys()).toEqual({ keys: [shown] });
    await running.stop();
  });

  it.each([
    ['half a file', '{"keys": ['],
    ['no keys', '{"keys": []}'],
    ['something else', '"keys"'],
  ])('stay in use while the file has %s, until it is valid again', async (_what, text) => {
    const [first, second] = [await createSigningKey('first'), await createSigningKey('second')];
    await writeKeys(file, first);
    const ring = createKeyRing({ file, create: false, log });
    await ring.start();
    await writeFile(file, text);
    await ring.reload();
    expect(ring.signingKey().kid).toBe('first');
    await rm(file);
    await ring.reload();
    expect(kidsOf(ring.verifyingKeys())).toEqual(['first']);
    await writeKeys(file, second);
    await ring.reload();
    expect(ring.signingKey().kid).toBe('second');
    await ring.stop();
  });

  it.each([
    ['is not there', undefined, /ENOENT/],
    ['is not JSON', 'keys', /not JSON/],
    ['has a public key first', 'public', /not a private key/],
    ['has two keys with one kid', 'twins', /same kid/],
  ])('make the start fail when the file %s', async (_what, content, reason) => {
    const key = await createSigningKey('one');
    const { d: _private, ...open } = key;
    if (content === 'keys') await writeFile(file, content);
    if (content === 'public') await writeKeys(file, open, key);
    if (content === 'twins') await writeKeys(file, key, await createSigningKey('one'));
    await expect(createKeyRing({ file, create: false, log }).start()).rejects.toThrow(reason);
  });

  it('are the same for instances that start concurrently', async () => {
    const rings = Array.from({ length: 5 }, () => createKeyRing({ file, create: true, log }));
    await Promise.all(rings.map((ring) => ring.start()));
    expect(new Set(rings.map((ring) => ring.signingKey().kid)).size).toBe(1);
    for (const ring of rings) await ring.stop();
  });
});
