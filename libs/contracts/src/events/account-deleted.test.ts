import { parseAccountDeleted, type AccountDeleted } from './account-deleted.ts';

const deleted: AccountDeleted = {
  kind: 'DELETED',
  epoch: 7,
  sequence: 3,
  accountId: '01890000-0000-7000-8000-0000000000aa',
  occurredAt: '2026-11-20T10:00:00.000Z',
};

it('is read when a newer producer adds fields', () => {
  expect(parseAccountDeleted(JSON.stringify({ ...deleted, reason: 'of tomorrow' }))).toEqual(deleted);
});

it.each([
  ['invalid JSON', 'deleted'],
  ['another kind', JSON.stringify({ ...deleted, kind: 'RENAMED' })],
  ['no position in the log', JSON.stringify({ ...deleted, sequence: 0 })],
  ['no epoch', JSON.stringify({ ...deleted, epoch: undefined })],
  ['an invalid account id', JSON.stringify({ ...deleted, accountId: '*' })],
])('is refused with %s', (_, text) => {
  expect(() => parseAccountDeleted(text)).toThrow();
});
