import { parseKeepRules, superfluous, type Keepable } from './keep-rules.ts';

describe('parseKeepRules', () => {
  it.each([
    ['7', { last: 7 }],
    [' 30 ', { last: 30 }],
    ['daily=7,weekly=4,monthly=6', { daily: 7, weekly: 4, monthly: 6 }],
    ['last = 3 , yearly = 2', { last: 3, yearly: 2 }],
  ])('reads %j', (text, rules) => {
    expect(parseKeepRules(text)).toEqual(rules);
  });

  it.each(['', '0', '-1', '1.5', 'all', 'daily', 'daily=', 'daily=0', 'daily=7,', 'daily=7 weekly=4', 'hourly=1', 'daily=1,daily=2', '99999', '7,daily=1'])(
    'does not read %j',
    (text) => {
      expect(parseKeepRules(text)).toBeUndefined();
    },
  ); // prettier-ignore
});

const at = (time: string, verified = false): Keepable => ({
  file: `${time}.tar.gz`,
  createdAt: new Date(time),
  verifiedAt: verified ? new Date(time) : null,
});
const gone = (archives: Keepable[], text: string) =>
  superfluous(archives, parseKeepRules(text) ?? {}).map(({ createdAt }) => createdAt.toISOString().slice(0, 13));

describe('superfluous', () => {
  const nights = Array.from({ length: 10 }, (_, index) => at(`2026-03-${String(index + 1).padStart(2, '0')}T03:00Z`));

  it('are all but so many of the newest', () => {
    expect(gone(nights, '7')).toEqual(['2026-03-03T03', '2026-03-02T03', '2026-03-01T03']);
    expect(gone(nights, '10')).toEqual([]);
    expect(gone([], '1')).toEqual([]);
  });

  it('are those of a day, a week, a month or a year that is over, except its newest', () => {
    const archives = [
      ...['2024-12-31T23:00Z', '2025-01-01T00:00Z', '2025-12-31T12:00Z'],
      ...['2026-02-28T03:00Z', '2026-03-01T03:00Z'], // Saturday and Sunday
      ...['2026-03-02T03:00Z', '2026-03-03T03:00Z', '2026-03-03T15:00Z'], // Monday and Tuesday
    ].map((time) => at(time));
    expect(gone(archives, 'daily=2')).toEqual(expect.arrayContaining(['2026-03-03T03', '2026-03-01T03']));
    expect(gone(archives, 'daily=2')).not.toContain('2026-03-02T03');
    expect(gone(archives, 'weekly=2')).toEqual([
      ...['2026-03-03T03', '2026-03-02T03', '2026-02-28T03', '2025-12-31T12', '2025-01-01T00', '2024-12-31T23'],
    ]);
    expect(gone(archives, 'monthly=2')).not.toContain('2026-02-28T03');
    expect(gone(archives, 'yearly=3')).toEqual(['2026-03-03T03', '2026-03-02T03', '2026-03-01T03', '2026-02-28T03', '2025-01-01T00']); // prettier-ignore
  });

  it('count periods that have archives, not those that have passed', () => {
    expect(gone([at('2020-01-01T00:00Z'), at('2026-03-01T00:00Z')], 'daily=2')).toEqual([]);
  });

  it('are never the newest, nor the newest verified one', () => {
    const archives = [at('2026-01-01T00:00Z', true), at('2026-01-02T00:00Z', true), at('2026-01-03T00:00Z'), at('2026-01-04T00:00Z')]; // prettier-ignore
    expect(gone(archives, '1')).toEqual(['2026-01-03T00', '2026-01-01T00']);
  });
});
