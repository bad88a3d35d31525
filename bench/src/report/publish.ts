import { readFileSync, writeFileSync } from 'node:fs';
import type { Report } from './report.ts';
import { table } from './table.ts';

/** Puts the figures between the markers of a README. @throws when it has none */
export function publish(readme: string, report: Report): void {
  publishText(readme, 'figures', `${heading(report)}\n\n${table(report.measured)}`);
}

/** Puts a text between the markers of that name. @throws when there are none */
export function publishText(readme: string, name: string, figures: string): void {
  const [first, last] = [`<!-- ${name}: begin -->`, `<!-- ${name}: end -->`];
  const text = readFileSync(readme, 'utf8');
  const begin = text.indexOf(first);
  const end = text.indexOf(last);
  if (begin < 0 || end < begin) throw new Error(`${readme} has no place for figures (${first} … ${last}).`);
  writeFileSync(readme, `${text.slice(0, begin + first.length)}\n${figures}\n${text.slice(end)}`);
}

/** Where, when and how, in two lines. */
export function heading({ startedAt, machine, parameters }: Report): string {
  const { system, processor, cores, memoryGiB, node, postgres } = machine;
  const { connections, rounds, seconds, warmUpSeconds } = parameters;
  return [
    `${startedAt.slice(0, 10)} · ${cores} cores (${processor}), ${memoryGiB} GiB, ${system} · Node ${node.slice(1)} · PostgreSQL ${postgres}`,
    `${connections} connections · median of ${rounds} rounds of ${seconds} s, after ${warmUpSeconds} s to warm up · CPU in ms per request`,
  ].join('  \n');
}
