import { readFileSync, writeFileSync } from 'node:fs';
import type { Machine } from './machine.ts';
import type { Report } from './report.ts';
import { table } from './table.ts';

const BEGIN = '<!-- figures: begin -->';
const END = '<!-- figures: end -->';

/** Puts the figures between the markers of a README. @throws when it has none */
export function publish(readme: string, report: Report): void {
  putBetween(readme, [BEGIN, END], `${heading(report)}\n\n${table(report.measured)}`);
}

/** Replaces what stands between two markers of a file. @throws when it has none */
export function putBetween(readme: string, [first, last]: readonly [string, string], figures: string): void {
  const text = readFileSync(readme, 'utf8');
  const begin = text.indexOf(first);
  const end = text.indexOf(last);
  if (begin < 0 || end < begin) throw new Error(`${readme} has no place for figures (${first} … ${last}).`);
  writeFileSync(readme, text.slice(0, begin + first.length) + `\n${figures}\n` + text.slice(end));
}

/** When, and on what. */
export function machineLine(startedAt: string, machine: Machine): string {
  const { system, processor, cores, memoryGiB, node, postgres } = machine;
  return `${startedAt.slice(0, 10)} · ${cores} cores (${processor}), ${memoryGiB} GiB, ${system} · Node ${node.slice(1)} · PostgreSQL ${postgres}`;
}

/** Where, when and how, in two lines. */
export function heading({ startedAt, machine, parameters }: Report): string {
  const { connections, rounds, seconds, warmUpSeconds } = parameters;
  return [
    machineLine(startedAt, machine),
    `${connections} connections · median of ${rounds} rounds of ${seconds} s, after ${warmUpSeconds} s to warm up · CPU in ms per request`,
  ].join('  \n');
}
