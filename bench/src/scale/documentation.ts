import { fileURLToPath } from 'node:url';
import { putBetween } from '../report/publish.ts';
import { capacityTable, profileTable } from './capacity-tables.ts';
import type { ScaleReport } from './report.ts';
import { costTable, describeRun, isBusy, otherTable, replayTable, whereOff } from './tables.ts';

export const SCALING_DOC = fileURLToPath(new URL('../../../docs/scaling.md', import.meta.url));

const ROUGH =
  '**Rough:** the costs were measured on a busy machine (see above), so small ones are off by a factor. Take them again on a quiet one before you rely on a figure here.';

/** What stands in docs/scaling.md between two marks, by their name. */
export function generatedTexts(report: ScaleReport): Record<string, string> {
  const { coefficients } = report;
  return {
    costs: [describeRun(report), costTable(report), otherTable(report)].join('\n\n'),
    replay: [replayTable(report), offText(report)].join('\n\n'),
    profile: profileTable(),
    capacity: [...(isBusy(report) ? [ROUGH] : []), capacityTable(coefficients)].join('\n\n'),
  };
}

export function marksOf(name: string): readonly [string, string] {
  return [`<!-- ${name}: begin -->`, `<!-- ${name}: end -->`];
}

export function writeDocumentation(report: ScaleReport): void {
  for (const [name, text] of Object.entries(generatedTexts(report))) putBetween(SCALING_DOC, marksOf(name), text);
}

/** What a run prints. */
export function describeScale(report: ScaleReport): string {
  const { costs, replay, capacity } = generatedTexts(report);
  return [costs, replay, capacity].join('\n\n');
}

function offText(report: ScaleReport): string {
  const found = whereOff(report);
  if (found.length === 0) return 'Nowhere is the model off by more than 20 %.';
  return ['Off by more than 20 %:', '', ...found.map((line) => `- ${line}`)].join('\n');
}
