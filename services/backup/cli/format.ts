import type { BackupEntry } from '@taskmesh/internal-api';

const UNITS = ['B', 'KiB', 'MiB', 'GiB', 'TiB'];

/** `12.3 MiB` */
export function bytesText(bytes: number): string {
  const power = Math.min(UNITS.length - 1, Math.max(0, Math.floor(Math.log2(Math.max(bytes, 1)) / 10)));
  const value = bytes / 1024 ** power;
  return `${power === 0 || value >= 100 ? Math.round(value) : value.toFixed(1)} ${UNITS[power]}`;
}

const COLUMNS = ['file', 'size', 'made', 'origin', 'stores', 'verified'];

export function backupTable(backups: readonly BackupEntry[]): string {
  if (backups.length === 0) return 'There are no backups yet.';
  const rows = backups.map((backup) => [
    printable(backup.file),
    bytesText(backup.sizeBytes),
    timeText(backup.createdAt),
    printable(backup.origin),
    backup.stores.join(', ') || '?',
    proofText(backup),
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

function proofText({ verifiedAt, verifiedVersion, unfitAt, unfitReason }: BackupEntry): string {
  if (unfitAt) return `unfit, ${timeText(unfitAt)}${unfitReason ? `: ${printable(unfitReason)}` : ''}`;
  if (!verifiedAt) return 'never';
  return `${timeText(verifiedAt)}${verifiedVersion ? ` (${printable(verifiedVersion)})` : ''}`;
}

export const timeText = (time: string) => `${time.slice(0, 19).replace('T', ' ')} UTC`;

/** One line with what a restore leaves out; empty when that is nothing. */
export const leftOutText = (dropped: readonly string[]): string =>
  dropped.length > 0 ? printable(`Left out: ${dropped.join(', ')}`) : '';

/** Replaces characters that a terminal could interpret. */
export function printable(text: string): string {
  return text.replaceAll(/[\p{Cc}\p{Cf}]/gu, '?');
}
