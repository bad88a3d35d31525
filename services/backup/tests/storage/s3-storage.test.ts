import type { BackupStorage, OpenArchive } from '../../src/storage/backup-storage.ts';
import { createS3Storage } from '../../src/storage/s3-storage.ts';
import { parseS3Url } from '../../src/storage/s3-location.ts';
import { createBackupFixture, type Other } from '../support/backup-fixture.ts';
import { atEnd, eventually, listen } from '@taskmesh/testing';
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { createServer, type RequestListener } from 'node:http';
import { Readable } from 'node:stream';
import { buffer } from 'node:stream/consumers';
import { startS3Proxy, startS3Server } from './s3-server.ts';
import { describeBackupStorage } from './storage.contract.ts';

const fixture = await createBackupFixture('bucket');
const server = await startS3Server();
const proxy = await startS3Proxy(server.url('some/place'));
const storage = storageAt(proxy.url);
afterEach(async () => expect(await fixture.leftovers()).toEqual([]));

/** Runs `work` with a service that keeps its archives in that bucket. */
const withBucket = <Result>(url: string, work: (other: Other) => Promise<Result>) =>
  fixture.withOther({ secrets: { s3: locationOf(url) } }, work);

function locationOf(url: string) {
  const location = parseS3Url(url);
  if (!location) throw new Error(url);
  return location;
}
function storageAt(url: string, options: { quickMs?: number } = {}) {
  const storage = createS3Storage({ location: locationOf(url), now: () => Date.now(), ...options });
  atEnd(() => storage.close());
  return storage;
}

async function openIn(at: BackupStorage, file: string): Promise<OpenArchive> {
  const archive = await at.open(file);
  if (archive.kind !== 'found') throw new Error(archive.kind);
  return archive;
}

describeBackupStorage('a bucket', () => storage);

/** Accepts connections, but does not respond. */
async function silentBucket(): Promise<string> {
  const at = new URL(server.url('some/place'));
  at.searchParams.set('endpoint', (await listen(createServer(() => undefined))).url);
  return at.href;
}

describe('a bucket that does not respond, or lists an archive and never sends it', () => {
  it('is unavailable when its time is over', async () => {
    const at = storageAt(await silentBucket(), { quickMs: 500 });
    const ends = await Promise.allSettled([at.list(), at.find('taskmesh-1.tar.gz')]);
    expect(ends).toMatchObject(Array(2).fill({ reason: { code: 'SERVICE_UNAVAILABLE' } }));
  }, 30_000);

  it('does not delay the end of a download whose client disconnects', async () => {
    const proxy = await startS3Proxy(server.url('left'));
    const storage = storageAt(proxy.url);
    await storage.write('left.tar.gz', Readable.from([randomBytes(100)]));
    proxy.hold(/^GET .*left\.tar\.gz/);
    const content = (await openIn(storage, 'left.tar.gz')).read();
    await eventually(() => expect(proxy.asked.join()).toContain('GET'));
    const ended = once(content, 'close');
    content.destroy();
    await ended;
  }, 20_000);

  it('ends a read with an error, even if the reader starts later', async () => {
    const storage = storageAt((await startS3Proxy(server.url('replaced'))).url);
    await storage.write('replaced.tar.gz', Readable.from([randomBytes(100)]));
    const archive = await openIn(storage, 'replaced.tar.gz');
    await storage.remove('replaced.tar.gz');
    const content = archive.read();
    await eventually(() => expect(content.destroyed).toBe(true));
    await expect(content.toArray()).rejects.toThrow();
  }, 20_000);

  it('delays neither a stop nor, if it does not even list, a start', async () => {
    const proxy = await startS3Proxy(server.url('held'));
    proxy.hold(/^GET .*new\.tar\.gz/);
    await storageAt(server.url('held')).write('new.tar.gz', Readable.from([randomBytes(100)]));
    const begin = performance.now();
    const list = async ({ backups }: Other) =>
      expect(await backups.list()).toMatchObject([{ file: 'new.tar.gz', unfitAt: null }]);
    await Promise.all([withBucket(proxy.url, list), withBucket(await silentBucket(), async () => undefined)]);
    expect(performance.now() - begin).toBeLessThan(15_000); // includes the time that the list waits
    expect(await fixture.own.query('select * from backups')).toEqual([]);
  }, 60_000);
});

describe('archives in a bucket', () => {
  const FILL = `insert into tasks select gen_random_uuid(), 'task ' || n from generate_series(1, 200) n`;
  beforeAll(() => fixture.tasks.query(FILL));

  it('are made, listed, verified, restored and deleted like those in a directory', async () => {
    const before = await fixture.tasks.query('select * from tasks order by id');
    await withBucket(server.url('product'), async (other) => {
      const { backups } = other;
      const made = await backups.create();
      expect(await backups.verify(made.file)).toMatchObject({ stores: ['tasks', 'auth'], sha256: made.sha256 });
      expect(await backups.list()).toEqual([expect.objectContaining({ file: made.file, sizeBytes: made.sizeBytes })]);
      await fixture.tasks.query('delete from tasks');
      expect(await other.restore(made.file)).toMatchObject({ databaseRestored: true });
      expect(await fixture.tasks.query('select * from tasks order by id')).toEqual(before);
      expect(await other.restore('../x')).toMatchObject({ outcome: 'FILE_OUTSIDE' });
      expect(await other.restore('none.tar.gz')).toMatchObject({ outcome: 'FILE_NOT_FOUND' });
      expect(await backups.remove(made.file)).toBe(true);
      expect(await backups.list()).toEqual([]);
    });
  }, 120_000);

  it('are only below the prefix', async () => {
    const one = storageAt(server.url('one'));
    const all = storageAt(server.url());
    await one.write('mine.tar.gz', Readable.from([Buffer.from('x')]));
    expect(await all.list()).toEqual([]);
    expect(await storageAt(server.url('on')).list()).toEqual([]);
    expect(await one.remove('mine.tar.gz')).toBe(true);
  });

  it('report an unavailable bucket in every operation, and leave nothing behind', async () => {
    const { file } = await withBucket(server.url('away'), ({ backups }) => backups.create());
    await server.stop();
    try {
      await withBucket(server.url('away'), async (other) => {
        const { create, list, verify, remove, upload } = other.backups;
        const send = () => upload('a.tar.gz', Readable.from([Buffer.from([0x1f, 0x8b])]));
        const away = { code: 'SERVICE_UNAVAILABLE', message: 'The archive bucket was not available.' };
        for (const work of [create, list, () => verify(file), () => remove(file), send])
          await expect(work()).rejects.toMatchObject(away);
        expect(await other.restore(file)).toMatchObject({ outcome: 'FAILED', error: away.message });
      });
    } finally {
      await server.start();
    }
    const left = await withBucket(server.url('away'), ({ backups }) => backups.list());
    expect(left.map((backup) => backup.file)).toEqual([file]);
  }, 120_000);

  it('report when the bucket refuses access or does not exist', async () => {
    await expect(storageAt(server.url('', 'stranger:S3RVER')).list()).rejects.toThrow('refused access');
    const other = locationOf(server.url());
    const nowhere = createS3Storage({ location: { ...other, bucket: 'nowhere' }, now: () => Date.now() });
    await expect(nowhere.list()).rejects.toThrow('The archive bucket does not exist.');
    await expect(nowhere.write('a.tar.gz', Readable.from([Buffer.from('x')]))).rejects.toThrow('does not exist');
  });
});

describe('another server at the URL of a bucket', () => {
  const no = { code: 'SERVICE_UNAVAILABLE', message: 'The server at the address of the bucket is not an S3 server.' };

  const portal = async (listener: RequestListener) =>
    storageAt(`s3://k:s@archives?endpoint=${(await listen(createServer(listener))).url}`);

  it.each([
    ['text/html', '<html><body>Log in first</body></html>'],
    ['application/xml', '<?xml version="1.0"?><Other/>'],
    ['text/plain', ''],
  ])('is not treated as an empty bucket, and nothing is deleted there: %s %s', async (type, body) => {
    const at = await portal((_request, response) => response.writeHead(200, { 'content-type': type }).end(body));
    await expect(at.list()).rejects.toMatchObject(no);
    await expect(at.remove('a.tar.gz')).rejects.toMatchObject(no);
  });

  it.each([
    ['does not continue', true, ''],
    ['continues with nothing', true, '<NextContinuationToken/>'],
    ['repeats its pages', true, '<NextContinuationToken>a</NextContinuationToken>'],
    ['repeats its pages after its end', false, '<NextContinuationToken>a</NextContinuationToken>'],
  ])('is refused when its list %s', async (_how, isTruncated, next) => {
    let pages = 0;
    const page = `<ListBucketResult><Name>archives</Name><IsTruncated>${isTruncated}</IsTruncated>${next}</ListBucketResult>`;
    const at = await portal((_request, response) => (++pages > 3 ? response.destroy() : response.end(page)));
    await expect(at.list()).rejects.toMatchObject(no);
  });

  it('is refused when it sends only the beginning of an archive, which does not make the archive unfit', async () => {
    const at = await portal(({ method }, response) => {
      const [length, body] = method === 'HEAD' ? [1_000, ''] : [1, 'x'];
      response.writeHead(200, { 'last-modified': new Date(0).toUTCString(), 'content-length': length }).end(body);
    });
    const failure = { code: 'SERVICE_UNAVAILABLE', message: 'The archive bucket sent only a part of the archive.' };
    await expect((await openIn(at, 'a.tar.gz')).read().toArray()).rejects.toMatchObject(failure);
  });
});

it('uploads left in a bucket by a crash are aborted in the background, at startup and later, if they are archives and a day old', async () => {
  const proxy = await startS3Proxy(server.url('some'));
  proxy.uploads = [
    ['some/mine.tar.gz', '2001-01-01T00:00:00.000Z'],
    ['some/young.tar.gz', new Date().toISOString()],
    ['some/deeper/others.tar.gz', '2001-01-01T00:00:00.000Z'],
    ['some/others.txt', '2001-01-01T00:00:00.000Z'],
    ['some/on-the-next-page.tar.gz', '2001-01-01T00:00:00.000Z'],
  ];
  const msg = 'unfinished archives removed';
  await withBucket(proxy.url, async ({ logged, backups }) => {
    await eventually(() => expect(logged).toContainEqual(expect.objectContaining({ msg, pieces: 2 })));
    proxy.uploads = [['some/later.tar.gz', '2001-01-01T00:00:00.000Z']];
    await backups.tidy();
    expect(logged).toContainEqual(expect.objectContaining({ msg, pieces: 1 }));
  });
  const asked = expect.stringMatching(/^GET .*prefix=some%2F.*uploads|^GET .*uploads.*prefix=some%2F/);
  expect(proxy.asked).toContainEqual(asked);
  expect(proxy.asked.filter((line) => line.startsWith('DELETE'))).toEqual([
    expect.stringContaining('/archives/some/mine.tar.gz?uploadId=1'),
    expect.stringContaining('/archives/some/on-the-next-page.tar.gz?uploadId=5'),
    expect.stringContaining('/archives/some/later.tar.gz?uploadId=1'),
  ]);
}, 180_000);

describe('an archive in a bucket whose name another client takes', () => {
  const [mine, others] = [randomBytes(1_000), randomBytes(1_000)];
  const read = async (storage: BackupStorage) => buffer((await openIn(storage, 'taken.tar.gz')).read());
  const writeTo = (storage: BackupStorage, content: Buffer) =>
    storage.write('taken.tar.gz', Readable.from([content], { objectMode: false }));
  const make = (content: Buffer) => writeTo(storageAt(server.url('taken')), content);
  afterEach(() => storageAt(server.url('taken')).remove('taken.tar.gz'));

  it.each([
    ['remains that of the first writer', 0, { name: 'ArchiveExistsError' }],
    ['is not mistaken for ours when the response is lost, even if it has the same size', Infinity, { code: 'SERVICE_UNAVAILABLE' }],
  ])('at the moment %s', async (_what, lost, error) => {
    const proxy = await startS3Proxy(server.url('taken'));
    const storage = storageAt(proxy.url);
    proxy.overtake(/^PUT /, () => make(others));
    proxy.lose(/^PUT /, lost);
    await expect(writeTo(storage, mine)).rejects.toMatchObject(error);
    expect(await read(storage)).toEqual(others);
  }); // prettier-ignore

  it('after it was opened is not replaced by the other in a read', async () => {
    const proxy = await startS3Proxy(server.url('taken'));
    await make(mine);
    const opened = await openIn(storageAt(proxy.url), 'taken.tar.gz');
    expect(await buffer(opened.read())).toEqual(mine);
    await storageAt(server.url('taken')).remove('taken.tar.gz');
    await make(others);
    await expect(opened.read().toArray()).rejects.toMatchObject({ code: 'SERVICE_UNAVAILABLE' });
  });
});

const content = (size: number) => Readable.from([randomBytes(size)], { objectMode: false });

it.each([
  ['a whole archive', 1_000, /^PUT /, 1],
  ['a whole archive repeatedly', 1_000, /^PUT /, Infinity],
  ['the completion of a multipart upload', 20 * 1024 * 1024, /^POST .*uploadId=/, Infinity],
])(
  'a bucket whose response is lost for %s has the archive anyway, which is reported',
  async (_what, size, pattern, times) => {
    const proxy = await startS3Proxy(server.url('lost'));
    const storage = storageAt(proxy.url);
    proxy.lose(pattern, times);
    const written = await storage.write('lost.tar.gz', content(size));
    expect(await storage.find('lost.tar.gz')).toMatchObject({ sizeBytes: size });
    expect(written.sizeBytes).toBe(size);
    await storage.remove('lost.tar.gz');
  },
);
