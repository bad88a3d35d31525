import { fileName, list, number, parseOptions } from '../arguments.ts';
import { OPERATIONS, type Operation } from '../operations.ts';

export const TRACES_HELP = `
npm run bench -- traces [<options>]
What traces cost: fresh embedded platforms, start after start, take turns under the same load: one without a collector, one
that has one and records nothing, and one that begins to record a part half-way, with pauses.

  --quick            short rounds, for rough figures only
  --only <list>      operations over REST: ${OPERATIONS.join(', ')} (default get)
  --ratio <n>        which part is recorded (default 0.01, at the most 0.5)
  --starts <n>       how often all platforms are started (default 8, quick 2)
  --warm-up <n>      seconds of load before anything is measured, and again once it records (default 30, quick 1)
  --rounds <n>       measured before and after (default 12, quick 3)
  --seconds <n>      length of one round (default 1, quick 0.2)
  --connections <n>  requests under way at once (default 32)
  --name <name>      of the file in bench/results (default: the time)
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
