import { once } from 'node:events';
import { Readable } from 'node:stream';
import { eventually } from '@taskmesh/testing';
import type { BackupService } from './archives/archive.service.ts';
import type { RestoreService } from './restore/restore.service.ts';
import { createBackupWork } from './backup-work.ts';

const REFUSED = { code: 'SERVICE_UNAVAILABLE', message: '4 archives are being uploaded or downloaded; try again.' };
const dryRun = () => Promise.reject(new Error('not asked'));
const workOf = (backups: object) =>
  createBackupWork({ backups: backups as BackupService, restores: {} as RestoreService, dryRun });

/** Downloads archives that are endless, or of one byte. */
function createDownloads(isEndless: boolean) {
  const closed = jest.fn(async () => undefined);
  const read = () => (isEndless ? new Readable({ read() { this.push('x'); } }) : Readable.from(['x'])); // prettier-ignore
  return { closed, work: workOf({ download: async () => ({ sizeBytes: 1, sha256: null, read, close: closed }) }) };
}

it.each<[string, boolean, (content: Readable) => unknown]>([
  ['all of it was read', false, (content) => content.resume()],
  ['the client disconnects', true, (content) => content.once('data', () => content.destroy())],
])('a downloaded archive is closed when %s', async (_what, isEndless, use) => {
  const { closed, work } = createDownloads(isEndless);
  use((await work.download('x'))?.content as Readable);
  await eventually(() => expect(closed).toHaveBeenCalledTimes(1));
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
    return { sent: once(content, 'close'), uploading: work.upload('a', content) };
  };
  await Promise.all([send(), send(), send(), send()].map(({ sent }) => sent));
  const { sent, uploading } = send();
  await expect(Promise.race([uploading, sent])).rejects.toMatchObject(REFUSED);
  begun[0]?.();
  await send().sent;
  expect(begun).toHaveLength(5);
});

it('limits transfers of archives, and refuses more until one has ended', async () => {
  const { work } = createDownloads(true);
  const [first] = await Promise.all(['a', 'b', 'c', 'd'].map((file) => work.download(file)));
  await expect(work.download('e')).rejects.toMatchObject(REFUSED);
  await expect(work.upload('f', Readable.from(['x']))).rejects.toMatchObject(REFUSED);
  first?.content.destroy();
  await eventually(async () => expect(await work.download('e')).toMatchObject({ sizeBytes: 1 }));
  await expect(work.download('g')).rejects.toMatchObject(REFUSED);
});
