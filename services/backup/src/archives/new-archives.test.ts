import { unavailable } from '@taskmesh/contracts';
import { createLog } from '@taskmesh/service';
import { Readable } from 'node:stream';
import type { Backup } from './archive.entity.ts';
import { createNewArchives, inspectArchive, scanArchives, type Inspection, type ScanDeps } from './new-archives.ts';

const log = createLog({ service: 'test', level: 'silent' });
const archive = (file: string, more: Partial<Backup> = {}): Backup => ({
  ...{ file, sizeBytes: 1, sha256: null, createdAt: new Date(0), origin: 'unknown', stores: [], modifiedAt: null },
  ...{ verifiedAt: null, verifiedVersion: null, unfitAt: null, unfitReason: null },
  ...more,
});

function createTrial(take: (file: string) => Promise<unknown> = () => Promise.resolve()) {
  const taken: string[] = [];
  const stopping = new AbortController();
  const { signal } = stopping;
  const clock = { ms: 0, now: () => clock.ms };
  const examine = ({ file }: Backup) => (taken.push(file), take(file));
  const newcomers = createNewArchives({ examine, monotonicClock: clock, signal, log });
  return { newcomers, taken, clock, stop: () => (stopping.abort(), newcomers.ended()) };
}

describe('archives that were copied into the storage', () => {
  it('are examined once each, and again after they change', async () => {
    const { newcomers, taken } = createTrial();
    const known = [archive('known', { stores: ['tasks'] }), archive('unfit', { unfitAt: new Date(0) })];
    expect(await newcomers.examineNew([...known, archive('a'), archive('b')])).toBe(true);
    expect(await newcomers.examineNew([archive('a'), archive('b')])).toBe(false);
    await newcomers.examineNew([archive('a', { sizeBytes: 2 }), archive('b', { createdAt: new Date(1) })]);
    await newcomers.examineNew([]);
    await newcomers.examineNew([archive('a', { sizeBytes: 2 })]);
    await newcomers.examineNew([archive('a', { sizeBytes: 2, modifiedAt: new Date(1) })]);
    expect(taken).toEqual(['a', 'b', 'a', 'b', 'a', 'a']);
  });

  it('are tried again after an hour if they could not be examined, because each try reads them from the start', async () => {
    const { newcomers, taken, clock } = createTrial(() => Promise.reject(new Error('the disk is full')));
    const minute = 60_000;
    for (clock.ms of [0, 0, 59 * minute, 60 * minute, 119 * minute]) await newcomers.examineNew([archive('a')]);
    expect(taken).toEqual(['a', 'a']);
  });

  it('are examined by one list at a time, and by none once the service stops', async () => {
    const { promise, resolve: finish } = Promise.withResolvers<void>();
    const { newcomers, taken, stop } = createTrial(() => promise);
    const lists = [
      newcomers.examineNew([archive('a'), archive('b')]),
      newcomers.examineNew([archive('a'), archive('b')]),
    ];
    const stopped = stop();
    finish();
    await Promise.all([...lists, stopped]);
    expect(taken).toEqual(['a']);
    expect(await newcomers.examineNew([archive('c')])).toBe(false);
  });
});

it('an inspection that is aborted while it opens its archive closes it without reading', async () => {
  const stopping = new AbortController();
  const steps: string[] = [];
  const open = async () => {
    stopping.abort();
    const read = () => Readable.from((steps.push('read'), []));
    return { kind: 'found' as const, sizeBytes: 1, read, close: async () => void steps.push('close') };
  };
  const deps = { storage: { open }, cipher: undefined, signal: stopping.signal, log };
  await expect(inspectArchive('a.tar.gz', deps as never)).rejects.toMatchObject({ code: 'SERVICE_UNAVAILABLE' });
  expect(steps).toEqual(['close']);
});

describe('a scan', () => {
  const manifest = { createdAt: new Date(0).toISOString(), stores: { tasks: {}, auth: {} } };
  const whole = { manifest } as unknown as Inspection;
  const unfit = { unfit: 'it is broken.' };
  const at = (time: number) => archive('a', { createdAt: new Date(time), modifiedAt: new Date(time) });
  const uploaded = archive('a', { origin: 'upload', sha256: 'abc' });
  const scan = (deps: Partial<ScanDeps>) =>
    scanArchives({ now: () => new Date(0), log, ...deps } as ScanDeps, () => undefined);

  it.each<[string, Inspection, Backup, Backup | undefined, object[], object]>([
    ['keeps the entry of another instance', whole, at(0), archive('a', { stores: ['tasks'] }), [], { added: 0 }],
    ['keeps its origin', whole, at(0), uploaded, [{ ...uploaded, stores: ['tasks', 'auth'] }], { added: 1 }],
    ['does not restore a deleted entry', whole, at(0), undefined, [], { added: 0 }],
    // Its bucket reports the time with another precision.
    ['marks a broken one as unfit', unfit, at(5_123), at(5_000), [{ unfitReason: 'it is broken.' }], { unread: 1 }],
    ['does not blame one that was replaced', unfit, at(5_123), at(6_000), [], { unread: 1 }],
  ])('%s, although reading an archive takes long', async (_what, inspection, listed, now, recorded, result) => {
    const entries: Backup[] = [];
    const recordExamined = async (entry: Backup) => void entries.push(entry);
    const found = { list: async () => [listed], inspect: async () => inspection, find: async () => now };
    expect(await scan({ recordExamined, ...found })).toMatchObject({ archives: 1, ...result });
    expect(entries).toMatchObject(recorded);
  });

  it('continues after an archive that cannot be read, unless the storage is unavailable', async () => {
    const tried: string[] = [];
    const inspect = (file: string) => (tried.push(file), Promise.reject(unavailable('input/output error')));
    const deps = { list: async () => [archive('a'), archive('b')], inspect };
    expect(await scan({ ...deps, find: async (file) => archive(file) })).toEqual({ archives: 2, added: 0, unread: 2 });
    expect(tried).toEqual(['a', 'b']);
    const find = () => Promise.reject(unavailable('no storage'));
    await expect(scan({ ...deps, find })).rejects.toThrow('no storage');
  });
});
