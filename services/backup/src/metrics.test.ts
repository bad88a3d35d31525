import { Registry } from 'prom-client';
import type { Backup } from './archives/archive.entity.ts';
import { createBackupMetrics } from './metrics.ts';

const DAY_MS = 86_400_000;
const NOW = new Date('2026-03-10T12:00:00Z');
const before = (days: number) => new Date(NOW.getTime() - days * DAY_MS);

const archive = (createdAt: Date, proof: Partial<Backup> = {}): Backup => ({
  file: `${createdAt.getTime()}.tar.gz`,
  sizeBytes: 7,
  sha256: null,
  createdAt,
  origin: 'schedule',
  stores: ['tasks', 'auth'],
  modifiedAt: null,
  verifiedAt: null,
  verifiedVersion: null,
  unfitAt: null,
  unfitReason: null,
  ...proof,
});

async function figuresOf(backups: Backup[]) {
  const registry = new Registry();
  createBackupMetrics(registry).archives(backups, NOW);
  const names = ['last_success', 'last_proved', 'last_verified'];
  const values = names.map(async (name) => {
    const metric = await registry.getSingleMetric(`taskmesh_backup_${name}_timestamp_seconds`)?.get();
    return (metric?.values[0]?.value ?? NaN) * 1000;
  });
  return Promise.all(values);
}

it('ignores archives and verifications with future dates from a clock that was ahead', async () => {
  const [ahead, real] = [before(-365), before(3)];
  const real2 = archive(real, { verifiedAt: real });
  const wrong = archive(ahead, { verifiedAt: ahead });
  expect(await figuresOf([real2, wrong])).toEqual([real, real, real].map(Number));
  expect(await figuresOf([wrong])).toEqual([0, 0, 0]);
});

it('caps dates from a clock that is slightly ahead at the present time', async () => {
  const soon = new Date(NOW.getTime() + 2_000);
  expect(await figuresOf([archive(soon, { verifiedAt: soon })])).toEqual([NOW, NOW, NOW].map(Number));
});
