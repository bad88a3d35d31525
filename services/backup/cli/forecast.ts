import type { RestoreForecast } from '@taskmesh/internal-api';
import { leftOutText, printable } from './format.ts';

const idsText = (gone: number, back: number | undefined) => `: ${gone} would be deleted, ${back} would come back`;

function rowsText(store: string, { name, now, after, gone, back }: RestoreForecast['stores'][number]['rows'][number]) {
  return `rows of ${store}.${name}: ${now} now, ${after} after the restore${gone === undefined ? '' : idsText(gone, back)}`;
}

export function forecastText({ stores, accounts, obstacles, skipped, dropped, tookMs }: RestoreForecast): string {
  const rows = stores.flatMap(({ store, rows: tables }) => tables.map((table) => rowsText(store, table)));
  const lines = [
    ...rows,
    accounts &&
      `accounts: ${accounts.now} now, ${accounts.after} after the restore${idsText(accounts.gone, accounts.back)}; sessions that end: ${accounts.sessionsEnding}`,
    skipped.length > 0 && `Passed over: ${skipped.map(({ kind, count }) => `${kind} (${count})`).join(', ')}`,
    leftOutText(dropped),
    ...obstacles.map((obstacle) => `In the way: ${obstacle}`),
    `It took ${(tookMs / 1000).toFixed(1)} s.`,
  ];
  return lines.flatMap((line) => (line ? [printable(line)] : [])).join('\n');
}
