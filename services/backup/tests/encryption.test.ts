import { eventually, makeTempDir } from '@taskmesh/testing';
import { generateHybridIdentity, generateX25519Identity, identityToRecipient, Decrypter } from 'age-encryption';
import { execFile } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { readFile, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { buffer } from 'node:stream/consumers';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { readKeyFile } from '../src/archives/key-file.ts';
import { createArchiveCipher } from '../src/archives/encryption.ts';
import type { BackupConfig } from '../src/index.ts';
import { createBackupFixture } from './support/backup-fixture.ts';
import { cipherOf, encrypted } from './support/ciphers.ts';

const KEY = await generateX25519Identity();
const OTHER_KEY = await generateX25519Identity();
const POST_QUANTUM_KEY = await generateHybridIdentity();
const STRANGERS_KEY = await generateX25519Identity();
const recipients = [await identityToRecipient(KEY), await identityToRecipient(OTHER_KEY)];
const KIB = 1024;

const decrypted = async (content: Buffer, key = KEY) =>
  buffer(await (await cipherOf(key)).decrypt(Readable.from([content])));

describe('the cipher of archives', () => {
  it.each([0, 1, 64 * KIB - 1, 64 * KIB, 64 * KIB + 1, 1_000_000])('decrypts %i bytes', async (size) => {
    const content = randomBytes(size);
    for (const key of [KEY, POST_QUANTUM_KEY]) {
      const secret = await encrypted(content, key);
      expect(secret.subarray(0, 22).toString()).toBe('age-encryption.org/v1\n');
      expect((await decrypted(secret, key)).equals(content)).toBe(true);
    }
  });

  it('detects every change and every truncation', async () => {
    const secret = await encrypted(randomBytes(200 * KIB), KEY);
    const changed = [30, 150, 60 * KIB, secret.length - 1].map((place) => {
      const copy = Buffer.from(secret);
      copy.writeUInt8(copy.readUInt8(place) ^ 1, place);
      return copy;
    });
    const cut = [0, 10, 100, 64 * KIB, secret.length - 1].map((length) => secret.subarray(0, length));
    for (const broken of [...changed, ...cut, Buffer.concat([secret, Buffer.from('more')])])
      await expect(decrypted(broken)).rejects.toMatchObject({ name: 'ExtractionError' });
  });

  it('limits the length of a header, and so the number of recipients', async () => {
    let sent = 0;
    const endless = new Readable({
      read() {
        this.push(sent === 0 ? 'age-encryption.org/v1\n' : '-> X25519 aaaa\nbbbb\n'.repeat(1_000));
        sent += 20_000;
      },
    });
    await expect((await cipherOf(KEY)).decrypt(endless)).rejects.toThrow('header is too long');
    expect(endless.destroyed).toBe(true);
    expect(sent).toBeLessThan(1_000_000);
  });

  it('destroys its source when its reader stops', async () => {
    const cipher = await cipherOf(KEY);
    for (const isRead of [true, false]) {
      const plain = new Readable({ read() { this.push(randomBytes(64 * KIB)); } }); // prettier-ignore
      const secret = await cipher.encrypt(plain);
      if (isRead) for await (const part of secret) if (part) break;
      secret.destroy();
      await eventually(() => expect(plain.closed).toBe(true));
    }
    const broken = new Readable({ read() { this.destroy(new Error('the source broke')); } }); // prettier-ignore
    await expect(buffer(await cipher.encrypt(broken))).rejects.toThrow('the source broke');
  });
});

const fixture = await createBackupFixture('encryption', { keys: [KEY] });
await fixture.tasks.query(`insert into tasks select gen_random_uuid(), 'task ' || n from generate_series(1, 500) n`);
await fixture.auth.query(`insert into accounts values (1, 'secret@example.com')`);

it('encrypted archives are made and restored like others', async () => {
  const before = await fixture.tasks.query('select * from tasks order by id');
  const made = await fixture.backup.backups.create();
  expect(made.file).toMatch(/\.tar\.gz\.age$/);
  expect(made.sizeBytes).toBe((await stat(join(fixture.config.backupsDir, made.file))).size);
  await fixture.tasks.query('delete from tasks');
  expect(await fixture.restore(made.file)).toMatchObject({ databaseRestored: true });
  expect(await fixture.tasks.query('select * from tasks order by id')).toEqual(before);
  expect(await fixture.leftovers()).toEqual([]);
  // Any age program with the key can decrypt the file.
  const decrypter = new Decrypter();
  decrypter.addIdentity(KEY);
  const plain = await decrypter.decrypt(new Uint8Array(await readFile(join(fixture.config.backupsDir, made.file))));
  expect([plain[0], plain[1]]).toEqual([0x1f, 0x8b]);
}, 120_000);

it('encrypted archives do not open without their key, which is reported and does not make them unfit', async () => {
  const { file } = await fixture.backup.backups.create();
  await fixture.own.query('update backups set verified_at = now() where file = $1', [file]);
  for (const { keys, reason } of [
    { keys: [OTHER_KEY], reason: 'The archive was encrypted with another key.' },
    { keys: [], reason: 'The archive is encrypted, and there is no key: BACKUP_KEY_FILE is not set.' },
  ])
    await fixture.withOther({ secrets: { keys } }, async (other) => {
      expect(await other.restore(file)).toMatchObject({ outcome: 'EXTRACTION_FAILED', error: reason });
      const failure = { code: 'CONFLICT', message: `The archive cannot be verified here: ${reason}` };
      await expect(other.backups.verify(file)).rejects.toMatchObject(failure);
    });
  expect((await fixture.backup.backups.find(file))?.verifiedAt).toBeInstanceOf(Date);
}, 120_000);

const start = (settings: Partial<Omit<BackupConfig, 'secrets'>>, keys: string[] = []) =>
  fixture.startOther({ recipients, ...settings, secrets: { keys } });

it('archives for recipients can be opened by each of them, but not by the server that made them, which cannot verify them', async () => {
  const server = await start({});
  const { file } = await server.backups.create();
  const content = await readFile(join(fixture.config.backupsDir, file));
  for (const key of [KEY, OTHER_KEY]) expect((await decrypted(content, key)).readUInt16BE()).toBe(0x1f8b);
  const message = expect.stringMatching(/^The archive cannot be verified here: .* there is no key/);
  await expect(server.backups.verify(file)).rejects.toMatchObject({ code: 'CONFLICT', message });
  expect(await server.backups.find(file)).toMatchObject({ verifiedAt: null, unfitAt: null });
  await server.stop();
  const withKey = await start({}, [STRANGERS_KEY, OTHER_KEY]); // any of the keys may fit
  expect(await withKey.restore(file)).toMatchObject({ databaseRestored: true });
  await withKey.stop();
}, 120_000);

it.each<[string, Partial<Omit<BackupConfig, 'secrets'>>, string[], string]>([
  ['an invalid key', {}, ['AGE-SECRET-KEY-1QQQ'], 'BACKUP_KEY_FILE contains an invalid key'],
  ['a mistyped key', {}, [KEY.replace(/.$/, (last) => (last === 'Q' ? 'P' : 'Q'))], 'BACKUP_KEY_FILE contains an invalid key'],
  ['an invalid recipient', { recipients: ['age1nobody'] }, [], 'BACKUP_RECIPIENTS must be age recipients'],
  ['a private key', { recipients: [KEY] }, [], 'BACKUP_RECIPIENTS must be age recipients'],
  ['so many recipients that the archives could not be read again', { recipients: Array<string>(170).fill(recipients[0] ?? '') }, [], 'there are too many'],
  ['only a stranger’s key if archives must be verified', { verifySchedule: '0 5 * * 0' }, [STRANGERS_KEY], 'BACKUP_KEY_FILE has no key for BACKUP_RECIPIENTS'],
])('archives for recipients are never made with %s', async (_what, settings, keys, message) => {
  const failure = await start(settings, keys).catch(String);
  expect(failure).toContain(message);
  for (const secret of ['SECRET-KEY', KEY.slice(20, 40)])
    expect(String(failure).toUpperCase()).not.toContain(secret);
}); // prettier-ignore

it('the command that creates a key creates a file that the service accepts, and never replaces one', async () => {
  const path = join(makeTempDir(), 'key.txt');
  const make = () => promisify(execFile)(process.execPath, [fileURLToPath(new URL('../src/archives/make-key-file.ts', import.meta.url)), path]); // prettier-ignore
  const { stdout } = await make();
  expect(stdout).toContain('Public key: age1');
  expect((await stat(path)).mode & 0o777).toBe(0o600);
  const keys = readKeyFile({ BACKUP_KEY_FILE: path }, 'BACKUP_KEY_FILE');
  expect(await createArchiveCipher({ identities: keys, recipients: [] })).toBeDefined();
  expect(stdout).not.toContain(keys[0]);
  await expect(make()).rejects.toMatchObject({ code: 1, stderr: expect.stringContaining('EEXIST') });
});
