import type { RestoreForecast } from '@taskmesh/internal-api';
import { leftOutText, printable } from './format.ts';

function rowsText(store: string, { name, now, after, gone, back }: RestoreForecast['stores'][number]['rows'][number]) {
  const ids = gone === undefined ? '' : `; ${gone} gone, ${back} back`;
  return `${store}.${name}: ${now} rows now, ${after} then${ids}`;
}

export function forecastText({ stores, accounts, obstacles, skipped, dropped, tookMs }: RestoreForecast): string {
  const rows = stores.flatMap(({ store, rows: tables }) => tables.map((table) => rowsText(store, table)));
  const lines = [
    ...rows,
    accounts &&
      `accounts: ${accounts.now} now, ${accounts.after} then; ${accounts.gone} gone, ${accounts.back} back; sessions that end: ${accounts.sessionsEnding}`,
    skipped.length > 0 && `Passed over: ${skipped.map(({ kind, count }) => `${kind} (${count})`).join(', ')}`,
    leftOutText(dropped),
    ...obstacles.map((obstacle) => `In the way: ${obstacle}`),
    `It took ${(tookMs / 1000).toFixed(1)} s.`,
  ];
  return lines.flatMap((line) => (line ? [printable(line)] : [])).join('\n');
}
