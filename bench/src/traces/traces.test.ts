import { UsageError } from '@taskmesh/local';
import { tracesOptions } from './options.ts';
import { describeTraces, type TracesReport } from './report.ts';

describe('the arguments of the benchmark of traces', () => {
  it('have defaults', () => {
    expect(tracesOptions.read([])).toMatchObject({ operations: ['get'], shares: [0.01, 0.1], pairs: 400 });
  });

  it.each(['--shares 0', '--shares 0.01,2', '--shares much', '--pairs 1', '--only gets', '--starts 3'])(
    '%s is refused',
    (line) => {
      expect(() => tracesOptions.read(line.split(' '))).toThrow(UsageError);
    },
  );
});

describe('its report', () => {
  const report = (...costs: number[]): TracesReport => ({
    startedAt: '2026-11-24T10:00:00.000Z',
    machine: { system: 'Linux 6', processor: 'A', cores: 2, memoryGiB: 8, node: 'v24.0.0', postgres: '18.4' },
    parameters: { pairs: costs.length, seconds: 0.5, warmUpSeconds: 30, connections: 32 },
    measured: [
      { operation: 'get', share: 0.01, pairs: costs.map((cost) => ({ without: 0.05, with: 0.05 * (1 + cost) })) },
    ],
    exports: 7,
  });
  const textOf = (...costs: number[]) => describeTraces(report(...costs)).traces?.replaceAll(/ +/g, ' ');

  it('tells the mean of the pairs with its standard error, and what a recorded request costs', () => {
    expect(textOf(0.02, 0.02, 0.03, 0.03)).toContain('| get | 1 % | 0.0500 | 2.5 ± 0.3 % | 0.125 |');
    expect(textOf(0.02, 0.02, 0.03, 0.03)).not.toContain('Too noisy');
  });

  it('is not moved by a few slices in which somebody else had the machine', () => {
    expect(textOf(0.02, 0.02, 0.03, 0.03, 0.02, 0.02, 0.03, 0.03, 4, -0.5)).toContain('2.5 ± 0.3 %');
  });

  it('says that it is too noisy to tell', () => {
    expect(textOf(-0.02, 0.06, 0.01, 0.05)).toContain('Too noisy to tell');
  });
});
