import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import type { ScaleReport } from './report.ts';

/** The run that the documentation's figures are of. */
export const MEASURED_FILE = fileURLToPath(new URL('measured.json', import.meta.url));

export function readMeasured(): ScaleReport {
  return JSON.parse(readFileSync(MEASURED_FILE, 'utf8')) as ScaleReport; // written by a run
}
