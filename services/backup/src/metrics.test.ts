import { Registry } from 'prom-client';
import type { Backup } from './archives/archive.entity.ts';
import { createBackupMetrics } from './metrics.ts';

const DAY_MS = 86_400_000;
const NOW = new Date('2026-03-10T12:00:00Z');
const before = (days: number) => new Date(NOW.getTime() - days * DAY_MS);

const archive = (createdAt: Date, verifiedAt: Date | null = createdAt) =>
  ({ sizeBytes: 7, createdAt, origin: 'schedule', verifiedAt, unfitAt: null }) as Backup;

async function figuresOf(...backups: Backup[]) {
  const registry = new Registry();
  createBackupMetrics(registry).archives(backups, NOW);
  const figures = new Map((await registry.getMetricsAsJSON()).map(({ name, values }) => [name, values[0]?.value]));
  const names = ['last_success', 'last_proved', 'last_verified'];
  return names.map((name) => Number(figures.get(`taskmesh_backup_${name}_timestamp_seconds`)) * 1000);
}

it.each<[what: string, backups: Backup[], figures: (Date | number)[]]>([
  ['ignore an archive and a verification with future dates', [archive(before(3)), archive(before(-365))], [before(3), before(3), before(3)]],
  ['are zero if there are only such', [archive(before(-365))], [0, 0, 0]],
  ['are capped at the present time', [archive(new Date(NOW.getTime() + 2_000))], [NOW, NOW, NOW]],
  ['leave out an unfit archive', [{ ...archive(before(1), null), unfitAt: NOW }, archive(before(3))], [before(3), before(3), before(3)]],
])('the times of archives %s', async (_what, backups, figures) => {
  expect(await figuresOf(...backups)).toEqual(figures.map(Number));
}); // prettier-ignore

it('is absent until it was read: after a restart a gauge is not 0, which would be an answer', async () => {
  const registry = new Registry();
  createBackupMetrics(registry);
  const gauges = (await registry.getMetricsAsJSON()).filter(({ type }) => String(type) === 'gauge');
  expect(gauges.flatMap(({ values }) => values)).toEqual([]);
});
