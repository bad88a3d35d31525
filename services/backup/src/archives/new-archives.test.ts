import { createLog } from '@taskmesh/service';
import { Readable } from 'node:stream';
import type { Backup } from './archive.entity.ts';
import { createNewArchives, inspectArchive } from './new-archives.ts';

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
  const newcomers = createNewArchives({ examine: ({ file }) => (taken.push(file), take(file)), signal, log });
  return { newcomers, taken, stop: () => (stopping.abort(), newcomers.ended()) };
}

describe('archives that were copied into the storage', () => {
  it('are examined once each, and again after they change', async () => {
    const { newcomers, taken } = createTrial();
    const known = [archive('known', { stores: ['tasks'] }), archive('unfit', { unfitAt: new Date(0) })];
    expect(await newcomers.meet([...known, archive('a'), archive('b')])).toBe(true);
    expect(await newcomers.meet([archive('a'), archive('b')])).toBe(false);
    await newcomers.meet([archive('a', { sizeBytes: 2 }), archive('b', { createdAt: new Date(1) })]);
    await newcomers.meet([]);
    await newcomers.meet([archive('a', { sizeBytes: 2 })]);
    await newcomers.meet([archive('a', { sizeBytes: 2, modifiedAt: new Date(1) })]);
    expect(taken).toEqual(['a', 'b', 'a', 'b', 'a', 'a']);
  });

  it('are tried again if they could not be examined', async () => {
    const { newcomers, taken } = createTrial(() => Promise.reject(new Error('away')));
    await newcomers.meet([archive('a')]);
    await newcomers.meet([archive('a')]);
    expect(taken).toEqual(['a', 'a']);
  });

  it('are examined by one list at a time, and by none once the service stops', async () => {
    const { promise, resolve: finish } = Promise.withResolvers<void>();
    const { newcomers, taken, stop } = createTrial(() => promise);
    const lists = [newcomers.meet([archive('a'), archive('b')]), newcomers.meet([archive('a'), archive('b')])];
    const stopped = stop();
    finish();
    await Promise.all([...lists, stopped]);
    expect(taken).toEqual(['a']);
    expect(await newcomers.meet([archive('c')])).toBe(false);
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
  const look = inspectArchive('a.tar.gz', deps as never);
  await expect(look).rejects.toMatchObject({ code: 'SERVICE_UNAVAILABLE' });
  expect(steps).toEqual(['close']);
});
