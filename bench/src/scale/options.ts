import { UsageError } from '@taskmesh/local';
import { commonOptions, number, parseOptions } from '../arguments.ts';
import { PINGS_EVERY_S } from './calibrate/sockets.ts';

const MOST_GATEWAYS = 16;

export const SCALE_HELP = `
npm run bench -- scale [<options>]
Measures the cost of each kind of work in each part of the stack (PostgreSQL, Redis, Kafka, auth, tasks, gateways), and
whether that predicts the cost of a mixed load with one or more gateways. docs/scaling.md explains how this is used.

  --quick            short phases, about a minute: shows that it works, but gives only rough figures
  --gateways <list>  numbers of gateways to test (default 1,2,3; quick 1,2); the costs are measured with the first
  --seconds <n>      length of one phase (default 4, quick 1)
  --name <name>      name of the file in bench/results (default: the time)
  --publish          also keep the figures for docs/scaling.md and write its tables
  --tables           measure nothing; write the tables of docs/scaling.md from the figures kept
`;

export type ScaleOptions = ReturnType<typeof readScaleOptions>;

/** @throws UsageError */
export function readScaleOptions(args: string[]) {
  const values = parseOptions(args, { texts: ['gateways', 'seconds', 'name'], flags: ['quick', 'publish', 'tables'] });
  const { quick = false, tables = false } = values;
  const gateways = (values.gateways ?? (quick ? '1,2' : '1,2,3'))
    .split(',')
    .map((given) => number('--gateways', given, { min: 1, max: MOST_GATEWAYS, isWhole: true }));
  if (gateways[0] !== 1) throw new UsageError('--gateways begins with 1: there it is measured what things cost.');
  return {
    gateways,
    seconds: number('--seconds', values.seconds ?? (quick ? '1' : '4'), { min: 0.5, max: 600 }),
    /** Of the mixed load. */
    replaySeconds: quick ? 3 : PINGS_EVERY_S,
    /** How many sockets subscribe. */
    sockets: quick ? 60 : 600,
    /** How many changes wait at once for the relay. */
    backlog: quick ? 2_000 : 20_000,
    tables,
    ...commonOptions(values),
  };
}
