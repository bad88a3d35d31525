import type { BackupEntry } from '@taskmesh/internal-api';
import { backupTable } from './format.ts';

const BACKUP: BackupEntry = {
  file: 'a.tar.gz',
  sizeBytes: 2_048,
  sha256: null,
  createdAt: '2026-11-20T10:00:00.000Z',
  origin: 'request',
  stores: ['tasks', 'auth'],
  verifiedAt: null,
  verifiedVersion: null,
  unfitAt: null,
  unfitReason: null,
};

it('lists what archives are there for, and what is known of them: an unfit one is no unverified one', () => {
  const [verifiedAt, unfitAt] = ['2026-11-21T10:00:00.000Z', '2026-11-22T10:00:00.000Z'];
  const table = backupTable([
    BACKUP,
    { ...BACKUP, origin: 'safety', verifiedAt, verifiedVersion: '0.1.0' },
    { ...BACKUP, origin: 'upload', stores: [], unfitAt, unfitReason: 'it ends\u001b too early.' },
  ]);
  expect(table.split('\n').map((line) => line.split(/ {2,}/).slice(2))).toEqual([
    ['made', 'origin', 'stores', 'verified'],
    ['2026-11-20 10:00:00 UTC', 'request', 'tasks, auth', 'never'],
    ['2026-11-20 10:00:00 UTC', 'safety', 'tasks, auth', '2026-11-21 10:00:00 UTC (0.1.0)'],
    ['2026-11-20 10:00:00 UTC', 'upload', '?', 'unfit, 2026-11-22 10:00:00 UTC: it ends? too early.'],
  ]);
});
