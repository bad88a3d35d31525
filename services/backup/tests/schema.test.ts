import { schemaDifference } from '@taskmesh/store/testing';
import { createBackupDatabase } from '../src/database.ts';

it('the entities describe their tables as the migrations create them', async () =>
  expect(await schemaDifference(createBackupDatabase)).toBe(''));
