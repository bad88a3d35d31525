import { createHash } from 'node:crypto';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';

/** As in the schema of mutation-testing-elements, as far as it is used here. */
interface Report {
  files: Record<string, { mutants: Mutant[] }>;
}

interface Mutant {
  status: string;
  location: unknown;
  mutatorName: string;
  replacement?: string;
}

/** Where Stryker keeps an area's results. */
export const reportOf = (area: string): string => `.cache/mutation-${area}.json`;

/** Takes out of an area's report what has to be tried again: Stryker keeps everything else, since it cannot see which tests changed. */
export function keepNoticed(area: string): void {
  if (!existsSync(reportOf(area))) return;
  const report = readReport(area);
  for (const file of Object.values(report.files))
    file.mutants = file.mutants.filter(({ status }) => status === 'Killed' || status === 'Ignored');
  writeFileSync(reportOf(area), JSON.stringify(report));
}

/** Of an area whose mutants are listed, leaves only `size` to be tried: the same ones each time. */
export function keepSample(area: string, size: number): void {
  const report = readReport(area);
  const ranked = Object.entries(report.files)
    .flatMap(([name, { mutants }]) => mutants.map((mutant) => ({ mutant, rank: rankOf(name, mutant) })))
    .filter(({ mutant }) => mutant.status !== 'Ignored')
    .toSorted((one, other) => (one.rank < other.rank ? -1 : 1));
  const sample = new Set(ranked.slice(0, size).map(({ mutant }) => mutant));
  for (const file of Object.values(report.files)) {
    file.mutants = file.mutants.filter((mutant) => !sample.has(mutant));
    for (const mutant of file.mutants) mutant.status = 'Ignored';
  }
  writeFileSync(reportOf(area), JSON.stringify(report));
}

const rankOf = (file: string, { location, mutatorName, replacement }: Mutant) =>
  createHash('sha256')
    .update(JSON.stringify([file, location, mutatorName, replacement]))
    .digest('hex');

export const HEADER = `| Area | Mutants | Killed | Timed out | Survived | Score |
|------|--------:|-------:|----------:|---------:|------:|`;

/** The results of an area as a row of that table. */
export function rowOf(area: string): string {
  const statuses = Object.values(readReport(area).files).flatMap(({ mutants }) => mutants.map(({ status }) => status));
  const count = (wanted: string) => statuses.filter((status) => status === wanted).length;
  const [killed, timedOut, survived] = [count('Killed'), count('Timeout'), count('Survived')];
  const all = killed + timedOut + survived;
  return `| ${[area, all, killed, timedOut, survived, `${((100 * (killed + timedOut)) / all).toFixed(1)} %`].join(' | ')} |`;
}

function readReport(area: string): Report {
  return JSON.parse(readFileSync(reportOf(area), 'utf8')) as Report;
}
