import { table } from '../report/table.ts';
import { OTHERS, type Coefficients } from './model/coefficients.ts';
import { KINDS, PARTS, WORK, type Part } from './model/work.ts';
import type { Replay } from './replay.ts';

/** What is further off is named. */
const OFF = 0.2;
/** Of a second, and of a core: what is less is the clock's grain. */
const GRAIN_MS = 2;

const TITLES: Partial<Record<Part, string>> = { postgres: 'PostgreSQL', kafka: 'Kafka', redis: 'Redis' };
const titleOf = (part: Part) => TITLES[part] ?? part;

/** CPU-ms of each work in each part. */
export function costTable({ cpuMs }: Coefficients): string {
  return table(KINDS, {
    words: [
      ['CPU-ms for', (kind) => WORK[kind][0]],
      ['measured in', (kind) => WORK[kind][1]],
    ],
    figures: PARTS.map((part) => [titleOf(part), (kind) => cpuMs[kind]?.[part] ?? '']),
  });
}

export function otherTable(coefficients: Coefficients): string {
  return table(OTHERS, {
    words: [
      ['of', ({ name }) => name],
      ['unit', ({ unit }) => unit],
      ['measured in', ({ source }) => source],
    ],
    figures: [['figure', ({ of }) => of(coefficients)]],
  });
}

/** One thing that the model foretold of a stack. */
type Foretold = ReturnType<typeof foretoldBy>[number];

export function replayTable(replays: readonly Replay[]): string {
  return table(replays.flatMap(foretoldBy), {
    words: [
      ['gateways', ({ gateways }) => String(gateways)],
      ['of', ({ name }) => name],
      ['unit', ({ unit }) => unit],
    ],
    figures: [
      ['foretold', ({ predicted }) => predicted],
      ['measured', ({ measured }) => measured],
      ['off', (row) => (isGrain(row) && row.measured < 10 ? '' : percent(offBy(row)))],
    ],
  });
}

/** In words, where the model is wrong. */
export function whereOff(replays: readonly Replay[]): string[] {
  return replays
    .flatMap(foretoldBy)
    .filter((row) => Math.abs(offBy(row)) > OFF && !(row.unit === CPU && isGrain(row)))
    .map((row) => {
      const stack = row.gateways === 1 ? 'one gateway' : `${row.gateways} gateways`;
      const [name, off] = [row.unit === CPU ? row.name : `the ${row.name}`, offBy(row)];
      return `${stack}: ${name} ${off > 0 ? 'takes less' : 'takes more'} than foretold (${percent(off)})`;
    });
}

const CPU = 'CPU-ms/s';

function foretoldBy({ gateways, predicted, measured, memory }: Replay) {
  const mib = { predicted: memory.predicted / 2 ** 20, measured: memory.measured / 2 ** 20 };
  return [
    ...PARTS.map((part) => {
      return { gateways, name: titleOf(part), unit: CPU, predicted: predicted[part], measured: measured[part] };
    }),
    { gateways, name: 'memory of a gateway', unit: 'MiB', ...mib },
  ];
}

/** How much too much was foretold. */
function offBy({ predicted, measured }: Foretold): number {
  return predicted / measured - 1;
}

function isGrain({ predicted, measured }: Foretold): boolean {
  return Math.abs(predicted - measured) < GRAIN_MS;
}

function percent(share: number): string {
  return `${share > 0 ? '+' : '−'}${Math.abs(share * 100).toFixed(0)} %`;
}
