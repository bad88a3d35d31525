import { MOST_GATEWAYS } from '../work-dir.ts';
import { PINGS_EVERY_S } from './calibrate/sockets.ts';
import { fileName, number, parseOptions, UsageProblem } from '../arguments.ts';

export const SCALE_HELP = `
npm run bench -- scale [<options>]
What each kind of work costs in each part of the stack (PostgreSQL, Redis, Kafka, auth, tasks, gateways), and whether that
foretells what a mixed load takes at stacks of one and more gateways. docs/scaling.md says what is made of it.

  --quick            short stretches, a minute: shows that it works, good for rough figures only
  --gateways <list>  stacks that the load is tried at (default 1,2,3; quick 1,2); what things cost is measured at the first
  --seconds <n>      length of one stretch (default 4, quick 1)
  --name <name>      of the file in bench/results (default: the time)
  --publish          also keeps the figures for docs/scaling.md, and writes its tables
  --tables           measures nothing: writes the tables of docs/scaling.md from the figures that are kept
`;

export interface ScaleOptions {
  gateways: number[];
  seconds: number;
  /** Of the mixed load. */
  replaySeconds: number;
  /** How many sockets subscribe. */
  sockets: number;
  /** How many changes wait at once for the relay. */
  backlog: number;
  name: string | undefined;
  publish: boolean;
  tables: boolean;
  help: boolean;
}

/** @throws UsageProblem */
export function readScaleOptions(args: string[]): ScaleOptions {
  const values = parseOptions(args, { texts: ['gateways', 'seconds', 'name'], flags: ['quick', 'publish', 'tables'] });
  const isQuick = values.quick === true;
  const gateways = (values.gateways ?? (isQuick ? '1,2' : '1,2,3'))
    .split(',')
    .map((given) => number('--gateways', given, { min: 1, max: MOST_GATEWAYS, isWhole: true }));
  if (gateways[0] !== 1) throw new UsageProblem('--gateways begins with 1: there it is measured what things cost.');
  return {
    gateways,
    seconds: number('--seconds', values.seconds ?? (isQuick ? '1' : '4'), { min: 0.5, max: 600 }),
    replaySeconds: isQuick ? 3 : PINGS_EVERY_S,
    sockets: isQuick ? 60 : 600,
    backlog: isQuick ? 2_000 : 20_000,
    name: fileName(values.name),
    publish: values.publish === true,
    tables: values.tables === true,
    help: values.help === true,
  };
}
