import { keptText, undoQuestion } from './restore.ts';

const UNDOABLE = {
  file: 'a\u001b.tar.gz',
  stores: ['tasks', 'auth'],
  isUndo: false,
  restoredAt: '2026-11-22T10:00:00.000Z',
  keptUntil: '2026-11-23T10:00:00.000Z',
  replacedKeptMs: 5_400_000,
};

it('asks of the very restore that is taken back, and says what becomes of what it replaces', () => {
  expect(undoQuestion('http://h', UNDOABLE)).toBe(
    'Take back the restore of a?.tar.gz (tasks, auth) from 2026-11-22 10:00:00 UTC at http://h? ' +
      'That can be done until 2026-11-23 10:00:00 UTC. What was written since goes; it is kept for 1.5 h, for another undo.',
  );
  const lost = undoQuestion('http://h', { ...UNDOABLE, isUndo: true, replacedKeptMs: 0 });
  expect(lost).toMatch(
    /^Take back the undo of a restore of .* What was written since is lost: RESTORE_KEEP_OLD is 0\.$/,
  );
});

it('says whether what a restore replaced is kept', () => {
  expect(keptText(UNDOABLE.keptUntil)).toMatch(/^Until 2026-11-23 10:00:00 UTC "npm run backup -- undo"/);
  expect(keptText(null)).toContain('not kept');
  expect(keptText(undefined)).toBe('');
});
