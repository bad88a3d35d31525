import { fileName, list, number, parseOptions } from '../arguments.ts';
import { OPERATIONS, type Operation } from '../operations.ts';

export const TRACES_HELP = `
npm run bench -- traces [<options>]
Measures the cost of traces. Pairs of newly started embedded platforms take turns under the same load: one without a
collector, and one that records a share of its requests and sends it to a collector.

  --quick            short rounds, only for rough figures
  --only <list>      operations over REST: ${OPERATIONS.join(', ')} (default get)
  --ratio <n>        share of traces to record (default 0.01, at most 0.5; 0: a collector that gets nothing)
  --starts <n>       how many pairs are started (default 40, quick 2)
  --warm-up <n>      seconds of load on each before measuring (default 8, quick 1)
  --rounds <n>       rounds to measure (default 10, quick 3)
  --seconds <n>      length of one round (default 0.5, quick 0.2)
  --connections <n>  concurrent requests (default 32)
  --name <name>      name of the file in bench/results (default: the time)
`;

export interface TracesOptions {
  operations: Operation[];
  ratio: number;
  starts: number;
  warmUpSeconds: number;
  rounds: number;
  seconds: number;
  connections: number;
  name: string | undefined;
  help: boolean;
}

/** @throws UsageProblem */
export function readTracesOptions(args: string[]): TracesOptions {
  const values = parseOptions(args, {
    texts: ['only', 'ratio', 'starts', 'warm-up', 'rounds', 'seconds', 'connections', 'name'],
    flags: ['quick'],
  });
  const isQuick = values.quick === true;
  return {
    operations: list('--only', values.only ?? 'get', OPERATIONS),
    ratio: number('--ratio', values.ratio ?? '0.01', { min: 0, max: 0.5 }),
    starts: number('--starts', values.starts ?? (isQuick ? '2' : '40'), { min: 2, max: 100, isWhole: true }),
    warmUpSeconds: number('--warm-up', values['warm-up'] ?? (isQuick ? '1' : '8'), { min: 0.05, max: 600 }),
    rounds: number('--rounds', values.rounds ?? (isQuick ? '3' : '10'), { min: 1, max: 1_000, isWhole: true }),
    seconds: number('--seconds', values.seconds ?? (isQuick ? '0.2' : '0.5'), { min: 0.05, max: 600 }),
    connections: number('--connections', values.connections ?? '32', { min: 1, max: 1_000, isWhole: true }),
    name: fileName(values.name),
    help: values.help === true,
  };
}
