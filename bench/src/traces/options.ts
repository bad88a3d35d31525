import { fileName, list, number, parseOptions } from '../arguments.ts';
import { OPERATIONS, type Operation } from '../operations.ts';

export const TRACES_HELP = `
npm run bench -- traces [<options>]
Measures the cost of traces. Newly started embedded platforms take turns under the same load: one without a collector, one
that has a collector but records nothing, and one that starts to record a share half-way, with pauses.

  --quick            short rounds, only for rough figures
  --only <list>      operations over REST: ${OPERATIONS.join(', ')} (default get)
  --ratio <n>        share of traces to record (default 0.01, at most 0.5)
  --starts <n>       how often all platforms are started (default 8, quick 2)
  --warm-up <n>      seconds of load before measuring, and again once recording starts (default 30, quick 1)
  --rounds <n>       rounds to measure before and after recording starts (default 12, quick 3)
  --seconds <n>      length of one round (default 1, quick 0.2)
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
    starts: number('--starts', values.starts ?? (isQuick ? '2' : '8'), { min: 2, max: 100, isWhole: true }),
    warmUpSeconds: number('--warm-up', values['warm-up'] ?? (isQuick ? '1' : '30'), { min: 0.05, max: 600 }),
    rounds: number('--rounds', values.rounds ?? (isQuick ? '3' : '12'), { min: 1, max: 1_000, isWhole: true }),
    seconds: number('--seconds', values.seconds ?? (isQuick ? '0.2' : '1'), { min: 0.05, max: 600 }),
    connections: number('--connections', values.connections ?? '32', { min: 1, max: 1_000, isWhole: true }),
    name: fileName(values.name),
    help: values.help === true,
  };
}
