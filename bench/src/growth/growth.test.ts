import { UsageError } from '@taskmesh/local';
import { growthOptions } from './options.ts';
import { describeGrowth, type GrowthReport } from './report.ts';

describe('the arguments of the growth benchmark', () => {
  it('have defaults, and stores grow', () => {
    expect(growthOptions.read([])).toMatchObject({
      stores: [200_000, 1_000_000],
      sockets: [100, 20_000],
      publish: false,
    });
    expect(growthOptions.read(['--stores', '900000,300000']).stores).toEqual([300_000, 900_000]);
  });

  it.each(['--stores 1000', '--stores many', '--sockets 0', '--rounds 1.5', '--parts none', '--name a/b', 'word'])(
    '%s is refused',
    (line) => {
      expect(() => growthOptions.read(line.split(' '))).toThrow(UsageError);
    },
  );
});

describe('the report of the growth benchmark', () => {
  const cost = { operation: 'statistics', grows: false, store: 1_000_000, requests: 10, walBytes: 0 };
  const report: GrowthReport = {
    startedAt: '2026-11-24T10:00:00.000Z',
    machine: { system: 'Linux 6', processor: 'A', cores: 2, memoryGiB: 8, node: 'v24.0.0', postgres: '18.4' },
    parameters: { seconds: 1, rounds: 3, eventSeconds: 12 },
    requests: [
      { ...cost, owner: 50, pages: 4, server: 0.25, postgres: 0.5 },
      { ...cost, owner: 100_000, pages: 5, server: 0.25, postgres: 1 },
    ],
    events: [{ sockets: 20_000, perEvent: [0.3, 0.1, 0.2], idle: [9, 10, 11] }],
  };
  const lines =
    describeGrowth(report)
      ['growth figures']?.split('\n')
      .map((line) => line.replaceAll(/ +/g, ' ')) ?? [];

  it('has a column for each owner in each store', () => {
    expect(lines).toContain('| request | 50 of 1,000,000 | 100,000 of 1,000,000 |');
    expect(lines.filter((line) => line.startsWith('| statistics'))).toEqual([
      '| statistics | 4.00 | 5.00 |',
      '| statistics | 0.750 | 1.25 |',
      '| statistics | 0.500 | 1.00 |',
    ]);
  });

  it('tells the median of events, and all rounds', () => {
    expect(lines).toContain('| 20,000 | 0.200 | 0.300, 0.100, 0.200 | 10.0 |');
  });
});
