import { createLog } from '@taskmesh/service';
import { createTestDatabase } from '@taskmesh/testing';
import type { Backup } from '../src/archives/archive.entity.ts';
import { createBackupRepository } from '../src/archives/archive.repository.ts';
import { createBackupDatabase } from '../src/database.ts';
import { newRestore } from '../src/restore/restore-stores.ts';
import type { Restore } from '../src/restore/restore.entities.ts';
import { createRestoreRepository } from '../src/restore/restore.repository.ts';

const store = await createTestDatabase('repositories');
const database = await createBackupDatabase({ url: store.url, log: createLog({ service: 'test', level: 'silent' }) });
await database.migrate();
const repository = createBackupRepository(database);
const journal = createRestoreRepository(database);
afterAll(() => database.close());

const UNKNOWN_FILE: Omit<Backup, 'file'> = {
  ...{ sizeBytes: 10, sha256: null, createdAt: new Date(1_000), stores: [], origin: 'unknown', modifiedAt: new Date(1_000) },
  ...{ verifiedAt: null, verifiedVersion: null, unfitAt: null, unfitReason: null },
}; // prettier-ignore
const UNFIT = { unfitAt: new Date(2_000), unfitReason: 'it holds nothing' };

it('the result of examining an archive is recorded for one that was not examined, and never replaces what its maker has recorded meanwhile', async () => {
  const sent: Backup = { ...UNKNOWN_FILE, file: 'sent', origin: 'upload' };
  await repository.save(sent);
  await repository.recordExamined({ ...sent, stores: ['tasks'] });
  expect(await repository.find('sent')).toMatchObject({ origin: 'upload', stores: ['tasks'] });
  const made: Backup = { ...UNKNOWN_FILE, file: 'made', origin: 'schedule', stores: ['tasks'], sha256: 'abc' };
  await repository.save(made);
  await repository.recordExamined({ ...UNKNOWN_FILE, file: 'made', stores: ['tasks'] });
  await repository.recordExamined({ ...UNKNOWN_FILE, file: 'made', ...UNFIT });
  expect(await repository.find('made')).toMatchObject(made);
});

it('the result of examining an archive is recorded for a file that replaced a known one', async () => {
  const before: Backup = { ...UNKNOWN_FILE, file: 'other', origin: 'schedule', stores: ['tasks'], verifiedAt: new Date(1_500) }; // prettier-ignore
  await repository.save(before);
  const now: Backup = { ...UNKNOWN_FILE, file: 'other', sizeBytes: 11, stores: ['auth'] };
  await repository.recordExamined(now);
  expect(await repository.find('other')).toMatchObject(now);
  await repository.recordExamined({ ...now, ...UNFIT, modifiedAt: new Date(3_000) });
  expect(await repository.find('other')).toMatchObject(UNFIT);
  await repository.recordExamined({ ...now, modifiedAt: new Date(4_000) });
  expect(await repository.find('other')).toMatchObject({ stores: ['auth'], unfitAt: null });
});

const at = (minute: number) => new Date(Date.UTC(2026, 10, 22, 12, minute));

const begin = (id: string, values: Partial<Restore> = {}) =>
  journal.begin(newRestore({ now: () => at(0) }, { id, file: 'a.tar.gz', stores: ['tasks'], ...values }));

describe('the journal of restores', () => {
  beforeEach(() => store.query('delete from restores'));

  it('keeps replaced stores until their time although a clock is behind, but not the new ones of an undone restore', async () => {
    await begin('kept', { stage: 'restored', endedAt: at(30), leftUntil: at(40) });
    await begin('expired', { stage: 'restored', endedAt: at(3), leftUntil: at(4) });
    await begin('undone', { stage: 'undone', endedAt: at(30), leftUntil: at(30) });
    await begin('gone', { stage: 'undone', endedAt: at(30) });
    await begin('later', { startedAt: at(2) });
    await begin('running', { startedAt: at(1) });
    expect((await journal.unfinished()).map(({ id }) => id)).toEqual(['running', 'later']); // oldest first
    expect((await journal.overdue(at(4))).map(({ id }) => id).toSorted()).toEqual(['expired', 'undone']);
  });

  it('does not end a restore that has advanced, and changes none that has ended', async () => {
    await begin('r');
    const seen = await journal.find('r');
    await journal.reach('r', { stage: 'swapping', freshIds: { tasks: '1' } });
    const end = { stage: 'undone', at: at(1), leftUntil: null } as const;
    expect(await journal.end(seen, end)).toBe(false);
    expect(await journal.find('r')).toMatchObject({ stage: 'swapping', freshIds: { tasks: '1' }, endedAt: null });
    expect(await journal.end(await journal.find('r'), end)).toBe(true);
    expect(await journal.end({ ...seen, stage: 'swapping' }, end)).toBe(false);
    await expect(journal.reach('r', { stage: 'decided' })).rejects.toThrow('Another instance settled');
    expect(await journal.find('r')).toMatchObject({ stage: 'undone', endedAt: at(1) });
  });
});
