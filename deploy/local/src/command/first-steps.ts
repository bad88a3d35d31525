/** What somebody who has just started the platform may try first. */
export function firstSteps(url: string): string {
  const account = JSON.stringify({ email: 'ada@example.com', password: 'a long and private phrase', name: 'Ada' });
  return [
    `Open ${url}/ in a browser, or make an account from here:`,
    `  curl ${url}/api/auth/signup -H 'Content-Type: application/json' -d '${account}'`,
  ].join('\n');
}

/** Rows as lines, each column as wide as its widest cell. */
export function table(rows: string[][]): string {
  const widths = (rows[0] ?? []).map((_, column) => Math.max(...rows.map((row) => row[column]?.length ?? 0)));
  return rows
    .map((row) => `  ${row.map((cell, column) => cell.padEnd(widths[column] ?? 0)).join('  ')}`.trimEnd())
    .join('\n');
}
