import { LoadError } from '@taskmesh/pg-rows';
import { DiskSpaceError } from '../disk-space.ts';
import { TooSlowError } from '../stall-detection.ts';
import { asBackupFailure, asVerifyFailure, isUnverifiable, LossError, findUnfitReason } from './archive.errors.ts';
import { ExtractionError } from './limits.ts';
import { OtherReleaseError } from './manifest.ts';

it.each([
  ['ENOSPC', 'The backup was not made: the disk is full.'],
  ['EACCES', 'The backup was not made: no permission to write.'],
  ['ECONNREFUSED', 'The backup was not made: a store was not available.'],
  ['57P01', 'The backup was not made: a store was not available.'],
  ['42501', 'The backup was not made: no permission to read a store.'],
])('a failed backup explains %s to operators, without a path or a host', (code, message) => {
  const cause = Object.assign(new Error(`${code}: open '/srv/secret/place' on db.internal`), { code });
  expect(asBackupFailure(cause)).toMatchObject({ code: 'SERVICE_UNAVAILABLE', message, cause });
});

it('a failed backup passes on a defect unchanged', () => {
  const defect = new TypeError('x is not a function');
  expect(asBackupFailure(defect)).toBe(defect);
});

const coded = (code: string) => Object.assign(new Error('something'), { code });

describe('a failed verification', () => {
  it.each([
    ['another release can restore', new OtherReleaseError('a newer one'), true],
    ['can be restored with a loss', new LossError('without tasks.note'), false],
  ])('does not count an archive as unfit that %s', (_what, error, isOfOthers) => {
    const failure = asVerifyFailure(error);
    expect(failure).toMatchObject({ code: 'CONFLICT', message: expect.stringContaining(error.message) });
    expect([findUnfitReason(failure), isUnverifiable(failure)]).toEqual([undefined, isOfOthers]);
  });

  it.each([
    ['the disk has too little space', new ExtractionError('too large', { cause: new DiskSpaceError('no room') })],
    ['the storage of the archives does not respond', new ExtractionError('not read', { cause: coded('ESTALE') })],
    ['the storage of the archives is disconnected', new ExtractionError('not read', { cause: coded('ENOTCONN') })],
    ['reading the archive takes too long', new ExtractionError('late', { cause: new TooSlowError('late') })],
    ['a statement takes too long, or is cancelled', new LoadError('Line 1: canceled', { cause: coded('57014') })],
    ['a server is read-only', new LoadError('Line 1: read-only transaction', { cause: coded('25006') })],
    ['a deadlock ends the load', new LoadError('Line 1: deadlock detected', { cause: coded('40P01') })],
    ['a server has a defect', new LoadError('Line 1: could not read block', { cause: coded('XX001') })],
  ])('does not blame the archive when %s', (_what, error) => {
    expect(findUnfitReason(asVerifyFailure(error))).toBeUndefined();
  });

  it.each([
    ['grows too large', new LoadError('The database grew too large.')],
    ['PostgreSQL rejects', new LoadError('Line 1: no', { cause: coded('42P01') })],
    ['contains names that are too long', new ExtractionError('not read', { cause: coded('ENAMETOOLONG') })],
    ['contains a file below a file', new ExtractionError('not read', { cause: coded('ENOTDIR') })],
    ['is not an intact gzip file', new ExtractionError('not read', { cause: coded('Z_DATA_ERROR') })],
  ])('blames an archive that %s', (_what, error) => {
    expect(findUnfitReason(asVerifyFailure(error))).toEqual(expect.any(String));
  });
});
