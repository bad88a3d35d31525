import { once } from 'node:events';
import { createReadStream, writeFileSync } from 'node:fs';
import { open } from 'node:fs/promises';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { eventually, makeTempDir } from '@taskmesh/testing';
import type { BackupService } from './archives/archive.service.ts';
import type { RestoreService } from './restore/restore.service.ts';
import { createBackupWork } from './backup-work.ts';

const dryRun = () => Promise.reject(new Error('not asked'));
const workOf = (backups: object) =>
  createBackupWork({ backups: backups as BackupService, restores: {} as RestoreService, dryRun });

describe('a downloaded archive', () => {
  const dir = makeTempDir();
  const path = join(dir, 'archive');
  writeFileSync(path, Buffer.alloc(1_000_000));

  async function download() {
    const handle = await open(path);
    let closed = 0;
    const close = () => {
      closed++;
      return handle.close();
    };
    const read = () => createReadStream('', { fd: handle, autoClose: false });
    const work = workOf({ download: async () => ({ sizeBytes: 1_000_000, sha256: null, read, close }) });
    const content = (await work.download('x'))?.content;
    if (!content) throw new Error('nothing to download');
    return { content, closed: () => closed };
  }

  it.each<[string, (content: Readable) => unknown]>([
    ['all of it was read', (content) => content.resume()],
    ['the client disconnects', (content) => content.once('data', () => content.destroy())],
  ])('is closed when %s', async (_what, use) => {
    const { content, closed } = await download();
    use(content);
    await eventually(() => expect(closed()).toBe(1));
  });
});

it('counts an upload as a transfer until it is stored, not only until it is sent', async () => {
  const begun: (() => void)[] = [];
  const upload: BackupService['upload'] = (_file, content, onStored = () => undefined) => {
    content.resume();
    begun.push(onStored);
    return new Promise(() => undefined);
  };
  const work = workOf({ upload });
  const send = () => {
    const content = Readable.from(['x']);
    const sent = once(content, 'close');
    return { sent, uploading: work.upload('a', content) };
  };
  await Promise.all([send(), send(), send(), send()].map(({ sent }) => sent));
  const { sent, uploading } = send();
  await expect(Promise.race([uploading, sent])).rejects.toMatchObject({ code: 'SERVICE_UNAVAILABLE' });
  begun[0]?.();
  await send().sent;
  expect(begun).toHaveLength(5);
});

it('limits transfers of archives, and refuses more until one has ended', async () => {
  const read = () => new Readable({ read: () => undefined });
  const work = workOf({ download: async () => ({ sizeBytes: 1, sha256: null, read, close: async () => undefined }) });
  const [first] = await Promise.all(['a', 'b', 'c', 'd'].map((file) => work.download(file)));
  const refused = { code: 'SERVICE_UNAVAILABLE', message: '4 archives are being uploaded or downloaded; try again.' };
  await expect(work.download('e')).rejects.toMatchObject(refused);
  await expect(work.upload('f', Readable.from(['x']))).rejects.toMatchObject(refused);
  first?.content.destroy();
  await eventually(async () => expect(await work.download('e')).toMatchObject({ sizeBytes: 1 }));
  await expect(work.download('g')).rejects.toMatchObject(refused);
});
