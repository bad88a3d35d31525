const UNITS = ['byte', 'kilobyte', 'megabyte', 'gigabyte', 'terabyte'] as const;

export function formatSize(bytes: number): string {
  let unit = 0;
  let value = bytes;
  while (value >= 1_000 && unit < UNITS.length - 1) {
    value /= 1_000;
    unit += 1;
  }
  const digits = unit === 0 || value >= 100 ? 0 : 1;
  return new Intl.NumberFormat('en', {
    style: 'unit',
    unit: UNITS[unit] ?? 'byte',
    unitDisplay: unit === 0 ? 'long' : 'short',
    maximumFractionDigits: digits,
  }).format(value);
}

const SPANS = [
  [86_400, 'day'],
  [3_600, 'hour'],
  [60, 'minute'],
  [1, 'second'],
] as const;

/** Rounds to the largest unit that is not longer than the span. */
export function formatDuration(seconds: number): string {
  const [length, unit] = SPANS.find(([length]) => seconds >= length) ?? [1, 'second'];
  const count = Math.round(seconds / length);
  return `${count} ${unit}${count === 1 ? '' : 's'}`;
}

/** Returns null for zero. */
export const countOf = (count: number, one = '', many = ''): string | null =>
  count === 0 ? null : `${count.toLocaleString('en')} ${count === 1 ? one : many}`.trimEnd();

/** Expects the rules of `BACKUP_KEEP` by period; null keeps every archive. */
export function describeRetention(keep: Record<string, number> | null): string {
  if (!keep) return 'all';
  const words = Object.entries(keep).map(([period, count]) =>
    period === 'last' ? `the last ${count}` : `${count} ${period}`,
  );
  return words.join(', ');
}
