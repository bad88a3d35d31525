import type { BackupEntry } from '@taskmesh/internal-api';
import { backupTable, bytesText } from './format.ts';
import { createProgressView } from './progress.ts';
import { describeUndo } from './restore.ts';

const BACKUP: BackupEntry = {
  ...{ file: 'a.tar.gz', sizeBytes: 2_048, sha256: null, createdAt: '2026-11-20T10:00:00.000Z', origin: 'request' },
  ...{ stores: ['tasks', 'auth'], verifiedAt: null, verifiedVersion: null, unfitAt: null, unfitReason: null },
};

it('lists why archives were made, and distinguishes unfit ones from unverified ones', () => {
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

it('writes sizes as in the console', () => {
  const sizes = [0, 1, 999, 1_000, 12_595, 256 * 1024 * 1024, 1e16];
  expect(sizes.map(bytesText)).toEqual(['0 bytes', '1 byte', '999 bytes', '1 kB', '12.6 kB', '268 MB', '10,000 TB']);
});

it('shows progress as a bar on a terminal, which is cleared at the end', () => {
  const written: string[] = [];
  const view = createProgressView({ isTTY: true, columns: 80, write: (text: string) => void written.push(text) });
  view.show({ phase: 'load', store: 'tasks', doneBytes: 3_140_000, totalBytes: 6_280_000 });
  view.show({ phase: 'dump', store: 'auth', doneBytes: 2_000 });
  view.end();
  expect(written).toEqual([
    '\r\u001b[2Kloading tasks      [############............]  50 %  3.1 MB',
    '\r\u001b[2Kreading auth       2 kB',
    '\r\u001b[2K',
  ]);
});

const UNDOABLE = {
  ...{ file: 'a\u001b.tar.gz', stores: ['tasks', 'auth'], isUndo: false, replacedKeptMs: 5_400_000 },
  ...{ restoredAt: '2026-11-22T10:00:00.000Z', keptUntil: '2026-11-23T10:00:00.000Z' },
};

it('asks about the exact restore to undo, and says what happens to the data that the undo replaces', () => {
  expect(describeUndo('http://h', UNDOABLE)).toBe(
    'Undo the restore of a?.tar.gz (tasks, auth) from 2026-11-22 10:00:00 UTC at http://h? ' +
      'This is possible until 2026-11-23 10:00:00 UTC. Later changes are kept for 1.5 h, for another undo.',
  );
  const lost = describeUndo('http://h', { ...UNDOABLE, isUndo: true, replacedKeptMs: 0 });
  const question = /^Undo the undo of a restore of .* Later changes are lost, because RESTORE_KEEP_OLD is 0\.$/;
  expect(lost).toMatch(question);
});
