import { UsageError } from '@taskmesh/local';
import { backupOptions } from './options.ts';
import { describeBackups, type BackupReport } from './report.ts';

describe('the arguments of the backups benchmark', () => {
  it('have defaults', () => {
    expect(backupOptions.read([])).toMatchObject({ rows: 100_000, rounds: 3, publish: false, help: false });
  });

  it.each(['--rows 0', '--rows many', '--rounds 1.5', '--name a/b', '--unknown', 'word'])('%s is refused', (line) => {
    expect(() => backupOptions.read(line.split(' '))).toThrow(UsageError);
  });
});

describe('the report of the backups benchmark', () => {
  const report: BackupReport = {
    startedAt: '2026-11-21T10:00:00.000Z',
    machine: { system: 'Linux 6', processor: 'A', cores: 2, memoryGiB: 8, node: 'v24.0.0', postgres: '15.18' },
    server: 'PostgreSQL 15.18 (of the client tools)',
    client: 'client 15.18',
    rows: 1_000,
    dumpBytes: 2_000_000,
    timed: [
      { work: 'load', by: 'Taskmesh', seconds: [1, 2, 9] },
      { work: 'load', by: 'psql', seconds: [1, 1, 1] },
      {
        work: 'restore',
        by: 'Taskmesh',
        seconds: [4],
        memory: [
          { own: 31.6, children: 7 },
          { own: 12, children: 50.2 },
        ],
      },
    ],
  };

  const text = () => describeBackups(report)['backup figures'] ?? '';

  it('compares medians: a higher ratio is faster', () => {
    const [, , , , , ours, theirs, whole] = text()
      .split('\n')
      .map((line) => line.split('|').map((cell) => cell.trim()));
    expect(ours).toEqual(['', 'load a dump', 'Taskmesh', '2.00', '1.0', '500', '0.50', '', '', '']);
    expect(theirs).toEqual(['', 'load a dump', 'psql', '1.00', '2.0', '1000', '', '', '', '']);
    expect(whole).toEqual(['', 'whole restore', 'Taskmesh', '4.00', '0.5', '250', '', '32', '50', '']);
  });

  it('says which server and which client', () => {
    expect(text()).toContain('PostgreSQL 15.18 (of the client tools), client 15.18 · 1000 tasks');
  });
});
