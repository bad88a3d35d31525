import { createRandom } from '@taskmesh/testing';
import { readFileSync, writeFileSync } from 'node:fs';
import { parseArgs } from 'node:util';
import { ALL_CASES, CROWDED } from './all-cases.ts';
import type { Case } from './case.ts';
import type { Usage } from './measured-product.ts';
import { searchWorst, SPACES } from './search.ts';
import { CROWD, measureCase, measureCrowd, startMeasuring, type Measured } from './suite.ts';

type Row = Pick<Case, 'by' | 'name'> & { kind: string };
const PAGE = new URL('../../../docs/limits.md', import.meta.url);
const { values: options } = parseArgs({
  options: {
    ...{ only: { type: 'string', default: '' }, write: { type: 'boolean', default: false } },
    ...{ search: { type: 'string', default: '0' }, seed: { type: 'string', default: '1' } },
  },
});
const only = new RegExp(options.only);
const isWanted = ({ kind, name }: Case) => only.test(`${kind}: ${name}`);
const seconds = Number(options.search);
const row = ({ kind, by, name }: Row, { cpuMs, pauseMs, privateMib }: Usage, remark = '') =>
  `| ${[kind, by, name + remark, cpuMs.toFixed(1), pauseMs.toFixed(1), privateMib.toFixed(0)].join(' | ')} |`;

const measuring = await startMeasuring();
const { product, slowness } = measuring;
try {
  const keptBefore = await product.keptMib();
  const worst = new Map<string, { each: Case; measured: Measured }>();
  for (const each of ALL_CASES.filter(isWanted)) {
    const measured = await measureCase(measuring, each);
    const { outcome } = measured;
    console.error(row(each, measured, outcome === each.outcome ? '' : `: ${outcome} instead of ${each.outcome}`));
    const key = `${each.kind} ${each.by}`;
    if (measured.cpuMs > (worst.get(key)?.measured.cpuMs ?? 0)) worst.set(key, { each, measured });
  }
  const rows = [...worst.values()].map(({ each, measured }) => row(each, measured));
  for (const each of CROWDED.filter(isWanted)) {
    const { outcomes, ...usage } = await measureCrowd(measuring, each);
    console.error(row(each, usage, `: ${JSON.stringify(outcomes)}`));
    rows.push(row(each, usage, `, ${CROWD} at once`));
  }
  for (const space of seconds > 0 ? SPACES : []) {
    const random = createRandom(Number(options.seed));
    const { worst: found, tried, ...others } = await searchWorst(measuring, space, random, seconds);
    console.error(space.name, JSON.stringify({ found, ...others }));
    const name = `the worst of ${tried}, found by a search (seed ${options.seed}, ${seconds} s)`;
    rows.push(row({ kind: space.name, by: space.by, name }, found));
  }
  const kept = (await product.keptMib()) - keptBefore;
  const table = [
    '| kind | sent by | request | CPU, ms | pause, ms | private memory, MiB |',
    '| --- | --- | --- | --- | --- | --- |',
    ...rows,
    '',
    `Kept after all of them: ${kept.toFixed(0)} MiB. The machine needed ${slowness.toFixed(1)} times the CPU of the one that the figures are for.`,
  ].join('\n');
  console.log(table);
  const written = /(<!-- measured -->\n)[\s\S]*?(\n<!-- end -->)/;
  if (options.write) writeFileSync(PAGE, readFileSync(PAGE, 'utf8').replace(written, `$1${table}$2`));
} finally {
  await product.stop();
}
