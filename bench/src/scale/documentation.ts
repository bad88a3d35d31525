import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { describeOrigin, isBusy, type Origin } from '../report/machine.ts';
import { publish, writeReport } from '../report/publish.ts';
import { capacityTable, profileTable } from './capacity-tables.ts';
import type { Coefficients } from './model/coefficients.ts';
import type { Demand } from './model/demand.ts';
import type { ScaleOptions } from './options.ts';
import type { Replay } from './replay.ts';
import { costTable, otherTable, replayTable, whereOff } from './tables.ts';

/** Everything a run found. */
export interface ScaleReport extends Origin {
  parameters: Pick<ScaleOptions, 'seconds' | 'sockets' | 'backlog'>;
  /** Of the mixed load. */
  demand: Demand;
  coefficients: Coefficients;
  replays: Replay[];
}

/** The run that the documentation's figures are of. */
const MEASURED_FILE = fileURLToPath(new URL('measured.json', import.meta.url));
export const SCALING_DOC = fileURLToPath(new URL('../../../docs/scaling.md', import.meta.url));

const ROUGH =
  '**Rough:** the costs were measured on a busy machine (see above), so small ones are off by a factor. Take them again on a quiet one before you rely on a figure here.';

/** What a run prints. */
export function describeScale(report: ScaleReport): Record<string, string> {
  const { parameters, coefficients, replays } = report;
  const { seconds, sockets, backlog } = parameters;
  const how = `stretches of ${seconds} s · ${sockets} sockets · a backlog of ${backlog} changes`;
  const off = whereOff(replays).map((line) => `- ${line}`);
  const where =
    off.length === 0 ? ['Nowhere is the model off by more than 20 %.'] : ['Off by more than 20 %:', '', ...off];
  return {
    costs: [describeOrigin(report, how), costTable(coefficients), otherTable(coefficients)].join('\n\n'),
    replay: [replayTable(replays), where.join('\n')].join('\n\n'),
    capacity: [...(isBusy(report) ? [ROUGH] : []), capacityTable(coefficients)].join('\n\n'),
  };
}

/** What stands in docs/scaling.md between marks. */
export function generatedTexts(report: ScaleReport): Record<string, string> {
  return { ...describeScale(report), profile: profileTable() };
}

export function readMeasured(): ScaleReport {
  return JSON.parse(readFileSync(MEASURED_FILE, 'utf8')) as ScaleReport; // written by a run
}

export function publishScale(report: ScaleReport): void {
  writeReport(MEASURED_FILE, report);
  writeDocumentation(report);
}

export function writeDocumentation(report: ScaleReport): void {
  publish(SCALING_DOC, generatedTexts(report));
}
