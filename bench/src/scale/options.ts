import { UsageError } from '@taskmesh/local';
import { amount, counts, defineOptions, flag, NAME, PUBLISH, unlessQuick } from '../arguments.ts';
import { PINGS_EVERY_S } from './calibrate/sockets.ts';

const ABOUT = `
Measures the cost of each kind of work in each part of the stack (PostgreSQL, Redis, Kafka, auth, tasks, gateways), and
whether that predicts the cost of a mixed load with one or more gateways. docs/scaling.md explains how this is used.
`;

const { help, read } = defineOptions('npm run bench -- scale', ABOUT, {
  quick: flag('--quick', 'short phases, about a minute: shows that it works, but gives only rough figures'),
  gateways: counts(
    '--gateways <list>',
    'numbers of gateways to test; the costs are measured with the first',
    ['1,2,3', '1,2'],
    { max: 16 },
  ),
  seconds: amount('--seconds <n>', 'length of one phase', ['4', '1'], { min: 0.5 }),
  /** Of the mixed load. */
  replaySeconds: unlessQuick(PINGS_EVERY_S, 3),
  /** How many sockets subscribe. */
  sockets: unlessQuick(600, 60),
  /** How many changes wait at once for the relay. */
  backlog: unlessQuick(20_000, 2_000),
  name: NAME,
  publish: { ...PUBLISH, help: 'also keep the figures for docs/scaling.md and write its tables' },
  tables: flag('--tables', 'measure nothing; write the tables of docs/scaling.md from the figures kept'),
});

export const scaleOptions = {
  help,
  read(args: string[]) {
    const options = read(args);
    if (options.gateways[0] === 1) return options;
    throw new UsageError('--gateways begins with 1: there it is measured what things cost.');
  },
};
export type ScaleOptions = ReturnType<typeof scaleOptions.read>;
