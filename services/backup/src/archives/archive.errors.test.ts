import { AppError } from '@taskmesh/contracts';
import { DumpError } from '@taskmesh/pg-rows';
import { asBackupFailure } from './archive.errors.ts';

describe('the failure of a backup', () => {
  it.each([
    ['ENOSPC', 'The backup was not made: the disk is full.'],
    ['EDQUOT', 'The backup was not made: the disk is full.'],
    ['EACCES', 'The backup was not made: no permission to write.'],
    ['EROFS', 'The backup was not made: no permission to write.'],
    ['ECONNREFUSED', 'The backup was not made: a store was not available.'],
    ['57P01', 'The backup was not made: a store was not available.'],
    ['42501', 'The backup was not made: no permission to read a store.'],
  ])('explains %s to operators, without a path or a host', (code, message) => {
    const cause = Object.assign(new Error(`${code}: open '/srv/secret/place' on db.internal`), { code });
    expect(asBackupFailure(cause)).toMatchObject({ code: 'SERVICE_UNAVAILABLE', message, cause });
  });

  it('reports what a dump cannot hold', () => {
    const failure = asBackupFailure(new DumpError('tasks: view "v"'));
    expect(failure).toBeInstanceOf(AppError);
    expect(failure).toMatchObject({ code: 'CONFLICT', message: 'The backup was not made: tasks: view "v".' });
  });

  it('leaves a defect what it is', () => {
    const defect = new TypeError('x is not a function');
    expect(asBackupFailure(defect)).toBe(defect);
  });
});
