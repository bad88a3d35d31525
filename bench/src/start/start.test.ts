import { UsageError } from '@taskmesh/local';
import { startOptions } from './options.ts';
import { describeStart } from './report.ts';

const MIB = 2 ** 20;

describe('the arguments of the benchmark of starts and memory', () => {
  it('have defaults', () => {
    expect(startOptions.read([])).toMatchObject({
      starts: 5,
      sockets: [100, 5_000],
      parts: ['starts', 'idle', 'subscribers'],
    });
  });

  it.each(['--sockets 100', '--sockets 200,100', '--sockets a,b', '--starts 0', '--parts none', '--idle -1', 'word'])(
    '%s is refused',
    (line) => {
      expect(() => startOptions.read(line.split(' '))).toThrow(UsageError);
    },
  );
});

describe('its report', () => {
  const report = {
    startedAt: '2026-11-24T10:00:00.000Z',
    machine: { system: 'Linux 6', processor: 'A', cores: 2, memoryGiB: 8, node: 'v24.0.0' },
    parameters: { starts: 2, idleSeconds: 30, sockets: [100, 5_000] as const },
    starts: [
      {
        kind: 'again' as const,
        readyMs: 1_300,
        cpuMs: 900,
        rounds: [
          { readyMs: 1_200, cpuMs: 880 },
          { readyMs: 1_400, cpuMs: 920 },
        ],
      },
    ],
    idle: {
      resident: { all: 200 * MIB, own: 150 * MIB },
      collected: { all: 180 * MIB, own: 130 * MIB },
      held: 50 * MIB,
      cpuMsPerS: 4.2,
    },
    subscribers: [{ protocol: 'sse' as const, held: 12_288, resident: 20_480 }],
  };
  const lines = (of: Partial<typeof report>) =>
    (describeStart({ ...report, ...of })['start figures'] ?? '').split('\n').map((line) => line.replaceAll(/ +/g, ' '));

  it('has a table for each part', () => {
    const told = lines({});
    expect(told).toContain('| again | 1300 | 1200 | 1400 | 900 |');
    expect(told).toContain('| as it is | 200 | 150 |');
    expect(told).toContain("50.0 MiB of it are V8's heap and what belongs to it. CPU: 4.2 ms per second.");
    expect(told).toContain('| sse | 12.0 | 20.0 |');
  });

  it('leaves out parts that were not measured', () => {
    const told = lines({ starts: [], subscribers: [] }).join('\n');
    expect(told).not.toContain('ready');
    expect(told).not.toContain('subscriber adds');
  });
});
