import { mkdtemp, readdir, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { BackupStorage } from '../../src/storage/backup-storage.ts';
import { lookAtDisk } from '../../src/disk-space.ts';
import { createDirectoryStorage } from '../../src/storage/directory-storage.ts';
import { describeBackupStorage } from './storage.contract.ts';

let dir: string;
let storage: BackupStorage;
beforeAll(async () => {
  dir = await mkdtemp(join(tmpdir(), 'taskmesh-storage-'));
  storage = createDirectoryStorage({ dir, now: () => Date.now(), look: lookAtDisk });
});
afterAll(async () => {
  expect(await readdir(dir)).toEqual([]);
  await rm(dir, { recursive: true });
});

describeBackupStorage('a directory', () => storage);
