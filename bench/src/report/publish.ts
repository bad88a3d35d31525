import { readFileSync, writeFileSync } from 'node:fs';
import { LISTS_PER_SECOND, PARALLEL_LOGINS, ROUND_FACTOR } from '../beside-logins/measure-beside-logins.ts';
import type { Machine } from './machine.ts';
import type { Report } from './report.ts';
import { besideLoginsTable, table } from './table.ts';

const FIGURES = ['<!-- figures: begin -->', '<!-- figures: end -->'] as const;
const BESIDE_LOGINS = ['<!-- beside logins: begin -->', '<!-- beside logins: end -->'] as const;

/** Puts the tables that a run has between their markers in a README. @throws when it has no place for one */
export function publish(readme: string, report: Report): void {
  const { measured, besideLogins } = report;
  if (measured.length > 0) putBetween(readme, FIGURES, describeRequests(report));
  if (besideLogins.length > 0) putBetween(readme, BESIDE_LOGINS, describeBesideLogins(report));
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
  return `${startedAt.slice(0, 10)} · ${cores} cores (${processor}), ${memoryGiB} GiB, ${system} · Node ${node.slice(1)}${postgres === undefined ? '' : ` · PostgreSQL ${postgres}`}`;
}

/** What requests cost: where, when and how it was measured, and the table. */
export function describeRequests({ startedAt, machine, parameters, measured }: Report): string {
  const { connections, rounds, seconds, warmUpSeconds } = parameters;
  return [
    `${machineLine(startedAt, machine)}  `,
    `${connections} connections · median of ${rounds} rounds of ${seconds} s, after ${warmUpSeconds} s to warm up · CPU in ms per request`,
    '',
    table(measured),
  ].join('\n');
}

/** The same for lists beside logins. */
export function describeBesideLogins({ startedAt, machine, parameters, besideLogins }: Report): string {
  const { rounds, seconds } = parameters;
  return [
    `${machineLine(startedAt, machine)}  `,
    `${LISTS_PER_SECOND} lists of 50 a second, alone and beside ${PARALLEL_LOGINS} parallel logins · median of ${rounds} rounds of ${ROUND_FACTOR * seconds} s of each, in slices by turns`,
    '',
    besideLoginsTable(besideLogins),
  ].join('\n');
}
