import { createDecision } from './decision.ts';

const CALLER = { traceId: '4bf92f3577b34da6a3ce929d0e0e4736', spanId: '00f067aa0ba902b7' };
const records = { ...CALLER, isSampled: true };

function fixture(options: Partial<Parameters<typeof createDecision>[0]> = {}) {
  const clock = { ms: 0 };
  const decide = createDecision({
    ratio: 0,
    isParentBased: true,
    callersPerS: 3,
    random: () => 0.5,
    monotonicMs: () => clock.ms,
    ...options,
  });
  const countOf = (parent: Parameters<typeof decide>[0], requests: number) =>
    Array.from({ length: requests }, () => decide(parent)).filter(Boolean).length;
  return { clock, decide, countOf };
}

describe('whether a request is recorded', () => {
  it('is a matter of the ratio when its caller says nothing', () => {
    const draws = [0, 0.09, 0.1, 0.99];
    const { countOf } = fixture({ ratio: 0.1, random: () => draws.shift() ?? 1 });
    expect(countOf(undefined, 4)).toBe(2);
  });

  it('is so for all with a ratio of 1, and for none with 0', () => {
    expect(fixture({ ratio: 1 }).countOf(undefined, 10)).toBe(10);
    expect(fixture({ ratio: 0, random: () => 0 }).countOf(undefined, 10)).toBe(0);
  });

  it('is no when its caller records nothing', () => {
    expect(fixture({ ratio: 1 }).decide({ ...CALLER, isSampled: false })).toBe(false);
  });

  it('is yes when its caller records, but no more often than there is room for', () => {
    const { clock, countOf } = fixture();
    expect(countOf(records, 1_000)).toBe(3);
    clock.ms = 1_000;
    expect(countOf(records, 1_000)).toBe(3);
    clock.ms = 1_000_000;
    expect(countOf(records, 1_000)).toBe(3);
  });

  it('has nothing to do with the trace id, which a caller can choose', () => {
    const { countOf } = fixture({ ratio: 0.01, callersPerS: 0 });
    expect(countOf({ ...records, traceId: '0'.repeat(31) + '1' }, 1_000)).toBe(0);
  });

  it('is the ratio alone without a parent-based sampler', () => {
    const { decide } = fixture({ ratio: 1, isParentBased: false });
    expect(decide({ ...CALLER, isSampled: false })).toBe(true);
    expect(fixture({ isParentBased: false }).decide(records)).toBe(false);
  });
});
