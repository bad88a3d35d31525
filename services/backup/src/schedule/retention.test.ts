import fc from 'fast-check';
import { parseRetentionRules, expiredArchives, MAX_UNFIT, MAX_UNFIT_DAYS, type Keepable } from './retention.ts';

it.each([
  ['7', { last: 7 }],
  ['daily=7,weekly=4,monthly=6', { daily: 7, weekly: 4, monthly: 6 }],
  ['\nlast=3,\n yearly=2,\n', { last: 3, yearly: 2 }],
  ['daily=007', { daily: 7 }],
])('retention rules accept %j', (text, rules) => expect(parseRetentionRules(text)).toEqual(rules));

it.each(['', '0', '-1', '1.5', 'daily', 'daily=', 'daily=0', ',', 'daily=7 weekly=4', 'hourly=1', 'daily=1,daily=2', '99999', '7,daily=1'])(
  'retention rules reject %j',
  (text) => expect(parseRetentionRules(text)).toBeUndefined(),
); // prettier-ignore

type Proof = 'good' | 'unproved' | 'unfit';

const at = (time: string, proof: Proof = 'unproved'): Keepable => ({
  file: `${time}.tar.gz`,
  createdAt: new Date(time),
  verifiedAt: proof === 'good' ? new Date(time) : null,
  unfitAt: proof === 'unfit' ? new Date(time) : null,
});
const NOW = new Date('2026-03-12T03:00Z');
const hourOf = ({ createdAt }: Keepable) => createdAt.toISOString().slice(0, 13);
const gone = (archives: Keepable[], text: string, now = NOW) =>
  expiredArchives(archives, parseRetentionRules(text) ?? {}, now).map(hourOf);
const night = (day: number, proof?: Proof) => at(`2026-03-${String(day).padStart(2, '0')}T03:00Z`, proof);

describe('expired archives', () => {
  const nights = Array.from({ length: 10 }, (_, index) => night(index + 1));

  it('are all but the given number of the newest', () => {
    expect(gone(nights, '7')).toEqual(['2026-03-03T03', '2026-03-02T03', '2026-03-01T03']);
    expect(gone(nights, '10')).toEqual([]);
  });

  it('are all but the newest archive of each day, week, month or year', () => {
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
    expect(gone([at('2020-01-01T00:00Z'), at('2026-03-01T00:00Z')], 'daily=2')).toEqual([]); // only periods with archives count
    expect(gone(archives, 'monthly=2')).not.toContain('2026-02-28T03');
    expect(gone(archives, 'yearly=3')).toEqual(['2026-03-03T03', '2026-03-02T03', '2026-03-01T03', '2026-02-28T03', '2025-01-01T00']); // prettier-ignore
  });

  it('never include good ones in favour of others, because each kind is counted separately', () => {
    const unfit = [night(4, 'unfit'), night(5, 'unfit'), night(6, 'unfit')];
    const good = [night(1, 'good'), night(2, 'good'), night(3, 'good'), night(7, 'good')];
    expect(gone([...good, ...unfit], '4')).toEqual([]);
    expect(gone([...good, ...unfit, night(8, 'good')], '4')).toEqual(['2026-03-01T03']);
    expect(gone([...good, ...nights], '4')).toHaveLength(6);
  });

  it('include unfit ones beyond the newest few, and those that were found unfit some time ago', () => {
    const unfit = [night(9, 'good'), ...[1, 2, 3, 4, 5].map((day) => night(day, 'unfit'))];
    expect(MAX_UNFIT).toBe(3);
    expect(gone(unfit, '7')).toEqual(['2026-03-02T03', '2026-03-01T03']);
    const later = new Date(Date.parse('2026-03-04T03:00Z') + MAX_UNFIT_DAYS * 86_400_000);
    const all = ['2026-03-04T03', '2026-03-03T03', '2026-03-02T03', '2026-03-01T03'];
    expect(gone(unfit, '7', later)).toEqual(all);
    const foundAhead = unfit.map((one) => ({ ...one, unfitAt: one.unfitAt && new Date('2099-01-01T00:00Z') }));
    expect(gone(foundAhead, '7', later)).toEqual(all); // counted from when they were made
    expect(gone(foundAhead, '7', new Date('2020-01-01T00:00Z'))).not.toContain('2026-03-04T03');
  });

  it('include unfit ones only by the normal rules if none is good, because the verification may be at fault', () => {
    const later = new Date('2027-01-01T00:00Z');
    expect(gone([1, 2, 3, 4, 5].map((day) => night(day, 'unfit')), '4', later)).toEqual(['2026-03-01T03']);
  }); // prettier-ignore

  it('include those with future dates first, which displace no others', () => {
    const ahead = [at('2026-03-13T03:00Z', 'good'), at('2099-01-01T00:00Z', 'good'), at('2098-01-01T00:00Z', 'good')];
    const good = [night(9, 'good'), night(10, 'good'), night(11, 'good')];
    expect(gone([...ahead, ...good], '3')).toEqual(['2099-01-01T00', '2098-01-01T00', '2026-03-13T03']);
    expect(gone([...ahead, ...good], 'daily=3')).toEqual(['2099-01-01T00', '2098-01-01T00', '2026-03-13T03']);
    expect(gone([...ahead, ...good], '4')).toEqual(['2098-01-01T00', '2026-03-13T03']);
    expect(gone(ahead, '1')).toEqual(['2098-01-01T00', '2026-03-13T03']);
    const soon = at(new Date(NOW.getTime() + 60_000).toISOString(), 'good'); // of a clock that is slightly ahead
    expect(gone([night(10, 'good'), night(11, 'good'), soon], '1')).toEqual(['2026-03-11T03', '2026-03-10T03']);
  });

  it('never include the newest good archives that the rules keep', () => {
    const kinds = fc.array(fc.constantFrom<Proof>('good', 'unproved', 'unfit'), { maxLength: 60 });
    const rules = fc.record(
      { last: fc.integer({ min: 1, max: 9 }), daily: fc.integer({ min: 1, max: 9 }), monthly: fc.integer({ min: 1, max: 3 }) },
      { requiredKeys: [] },
    ); // prettier-ignore
    const HOUR_MS = 3_600_000;
    fc.assert(
      fc.property(kinds, rules, fc.integer({ min: 1, max: 30 }), (proofs, keep, everyHours) => {
        let kept: Keepable[] = [];
        const made: Keepable[] = [];
        for (const [index, proof] of proofs.entries()) {
          const archive = at(new Date(NOW.getTime() + index * everyHours * HOUR_MS).toISOString(), proof);
          made.push(archive);
          const gone = new Set(expiredArchives([...kept, archive], keep, archive.createdAt));
          kept = [...kept, archive].filter((one) => !gone.has(one));
          const good = made.filter(({ verifiedAt }) => verifiedAt);
          for (const one of good.slice(-Math.max(1, keep.last ?? 0))) expect(kept).toContain(one);
          if (good.length > 0) expect(kept.filter(({ unfitAt }) => unfitAt).length).toBeLessThanOrEqual(MAX_UNFIT);
        }
      }),
      { seed: 13, numRuns: 300 },
    );
  });
});
