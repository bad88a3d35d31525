import { fileName, list, number, parseOptions } from '../arguments.ts';
import { OPERATIONS, type Operation } from '../operations.ts';

export const TRACES_HELP = `
npm run bench -- traces [<options>]
What traces cost: two embedded platforms take turns under the same load, one without a collector, one that records a part.

  --quick            short rounds, for rough figures only
  --only <list>      operations over REST: ${OPERATIONS.join(', ')} (default get,create)
  --ratio <n>        which part is recorded (default 0.01)
  --seconds <n>      length of one round (default 1, quick 0.2)
  --rounds <n>       pairs of rounds (default 24, quick 3)
  --connections <n>  requests under way at once (default 32)
  --name <name>      of the file in bench/results (default: the time)
`;

export interface TracesOptions {
  operations: Operation[];
  ratio: number;
  seconds: number;
  rounds: number;
  connections: number;
  name: string | undefined;
  help: boolean;
}

/** @throws UsageProblem */
export function readTracesOptions(args: string[]): TracesOptions {
  const values = parseOptions(args, {
    texts: ['only', 'ratio', 'seconds', 'rounds', 'connections', 'name'],
    flags: ['quick'],
  });
  const isQuick = values.quick === true;
  return {
    operations: list('--only', values.only ?? 'get,create', OPERATIONS),
    ratio: number('--ratio', values.ratio ?? '0.01', { min: 0, max: 1 }),
    seconds: number('--seconds', values.seconds ?? (isQuick ? '0.2' : '1'), { min: 0.05, max: 600 }),
    rounds: number('--rounds', values.rounds ?? (isQuick ? '3' : '24'), { min: 1, max: 1_000, isWhole: true }),
    connections: number('--connections', values.connections ?? '32', { min: 1, max: 1_000, isWhole: true }),
    name: fileName(values.name),
    help: values.help === true,
  };
}
