import type { BackupEntry } from '@taskmesh/internal-api';

const UNITS = ['byte', 'kilobyte', 'megabyte', 'gigabyte', 'terabyte'];

/** `12.6 kB`, as in the console. */
export function bytesText(bytes: number): string {
  const power = Math.min(UNITS.length - 1, Math.max(0, Math.floor(Math.log10(Math.max(bytes, 1)) / 3)));
  const value = bytes / 1000 ** power;
  return new Intl.NumberFormat('en', {
    style: 'unit',
    unit: UNITS[power] ?? 'byte',
    unitDisplay: power === 0 ? 'long' : 'short',
    maximumFractionDigits: power === 0 || value >= 100 ? 0 : 1,
  }).format(value);
}

/** A time as in Taskmesh's messages. */
const TIME = /\b\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d+)?Z/g;

const COLUMNS = ['file', 'size', 'made', 'origin', 'stores', 'verified'];

export function backupTable(backups: readonly BackupEntry[]): string {
  if (backups.length === 0) return 'There are no backups yet.';
  const rows = backups.map((backup) => [
    printable(backup.file),
    bytesText(backup.sizeBytes),
    timeText(backup.createdAt),
    printable(backup.origin),
    backup.stores.join(', ') || '?',
    verificationText(backup),
  ]);
  const widths = COLUMNS.map((title, column) => Math.max(title.length, ...rows.map((row) => row[column]?.length ?? 0)));
  return [COLUMNS, ...rows]
    .map((row) =>
      row
        .map((text, column) => text.padEnd(widths[column] ?? 0))
        .join('  ')
        .trimEnd(),
    )
    .join('\n');
}

function verificationText({ verifiedAt, verifiedVersion, unfitAt, unfitReason }: BackupEntry): string {
  if (unfitAt) return `unfit, ${timeText(unfitAt)}${unfitReason ? `: ${printable(unfitReason)}` : ''}`;
  if (!verifiedAt) return 'never';
  return `${timeText(verifiedAt)}${verifiedVersion ? ` (${printable(verifiedVersion)})` : ''}`;
}

export const timeText = (time: string) => `${time.slice(0, 19).replace('T', ' ')} UTC`;

/** A message of Taskmesh, with times made readable. */
export const messageText = (message: string) => printable(message.replaceAll(TIME, timeText));

/** One line that lists what a restore leaves out; empty if it leaves out nothing. */
export const leftOutText = (dropped: readonly string[]): string =>
  dropped.length > 0 ? printable(`Left out: ${dropped.join(', ')}`) : '';

/** Replaces characters that a terminal could interpret. */
export function printable(text: string): string {
  return text.replaceAll(/[\p{Cc}\p{Cf}]/gu, '?');
}
