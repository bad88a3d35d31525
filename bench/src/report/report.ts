import { mkdirSync, writeFileSync } from 'node:fs';
import { dirname } from 'node:path';
import type { BesideLogins } from '../beside-logins/measure-beside-logins.ts';
import type { Measured } from '../figures.ts';
import type { Options } from '../options.ts';
import type { Machine } from './machine.ts';

/** Everything a run found. */
export interface Report {
  /** RFC 3339 */
  startedAt: string;
  machine: Machine;
  parameters: Pick<Options, 'connections' | 'rounds' | 'seconds' | 'warmUpSeconds'>;
  measured: Measured[];
  besideLogins: BesideLogins[];
}

export function writeReport(file: string, report: object): void {
  mkdirSync(dirname(file), { recursive: true });
  writeFileSync(file, `${JSON.stringify(report, null, 2)}\n`);
}
