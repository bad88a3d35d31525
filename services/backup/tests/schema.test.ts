import { schemaDifference } from '@taskmesh/store/testing';
import { createBackupDatabase } from '../src/database.ts';

describe('the entities', () => {
  it('describe every table, column, index and constraint that the migrations create', async () => {
    expect(await schemaDifference(createBackupDatabase)).toBe('');
  });
});
