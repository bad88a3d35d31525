import { parseArgs } from 'node:util';
import { OPERATIONS, TARGETS, type Operation, type TargetName } from './operations.ts';

/** What `--only` knows besides the operations: lists beside logins, which have a table of their own. */
const BESIDE_LOGINS = 'beside-logins';
const CHOICES = [...OPERATIONS, BESIDE_LOGINS] as const;

export const HELP = `
npm run bench [-- <options>]
npm run bench -- feed [<options>]     the change feed instead: --help there tells more
npm run bench -- backup [<options>]   backups and restores
What requests cost: Taskmesh embedded and as separate processes, beside a bare Fastify + pg server, in one run.

  --quick            short rounds, a minute or two: shows that it works, good for rough figures only
  --only <list>      operations: ${OPERATIONS.join(', ')};
                     ${BESIDE_LOGINS}: how much 50 parallel logins slow down lists
  --targets <list>   ${TARGETS.join(', ')}
  --seconds <n>      length of one round (default 3, quick 0.3)
  --rounds <n>       rounds of which the median counts (default 3)
  --connections <n>  requests under way at once (default 32)
  --name <name>      of the file in bench/results (default: the time)
  --publish          also puts the table into bench/README.md
  --profile          instead of figures: where the servers' CPU time goes, by package and by function
`;

export interface Options {
  operations: Operation[];
  /** Whether lists are measured beside logins, too. */
  besideLogins: boolean;
  targets: TargetName[];
  seconds: number;
  warmUpSeconds: number;
  rounds: number;
  connections: number;
  name: string | undefined;
  publish: boolean;
  profile: boolean;
  help: boolean;
}

/** The arguments are none that the benchmark knows. */
export class UsageProblem extends Error {}

/** @throws UsageProblem */
export function readOptions(args: string[]): Options {
  const values = parse(args);
  const isQuick = values.quick === true;
  const seconds = number('--seconds', values.seconds ?? (isQuick ? '0.3' : '3'), { min: 0.05, max: 600 });
  const chosen = list('--only', values.only, CHOICES);
  return {
    operations: chosen.filter((name) => name !== BESIDE_LOGINS),
    besideLogins: chosen.includes(BESIDE_LOGINS),
    targets: list('--targets', values.targets, TARGETS),
    seconds,
    warmUpSeconds: isQuick ? 0.3 : 2,
    rounds: number('--rounds', values.rounds ?? '3', { min: 1, max: 100, isWhole: true }),
    connections: number('--connections', values.connections ?? '32', { min: 1, max: 1_000, isWhole: true }),
    name: fileName(values.name),
    publish: values.publish === true,
    profile: values.profile === true,
    help: values.help === true,
  };
}

function parse(args: string[]) {
  const text = { type: 'string' } as const;
  const flag = { type: 'boolean' } as const;
  try {
    return parseArgs({
      args,
      options: {
        quick: flag,
        only: text,
        targets: text,
        seconds: text,
        rounds: text,
        connections: text,
        name: text,
        publish: flag,
        profile: flag,
        help: { ...flag, short: 'h' },
      },
    }).values;
  } catch (cause) {
    throw new UsageProblem(cause instanceof Error ? cause.message : String(cause), { cause });
  }
}

export function list<Name extends string>(option: string, given: string | undefined, all: readonly Name[]): Name[] {
  if (given === undefined) return [...all];
  const wanted = given.split(',').map((name) => name.trim());
  const unknown = wanted.filter((name) => !all.some((known) => known === name));
  if (unknown.length > 0) throw new UsageProblem(`${option} knows ${all.join(', ')} (not: ${unknown.join(', ')}).`);
  return all.filter((name) => wanted.includes(name));
}

export function number(option: string, given: string, range: { min: number; max: number; isWhole?: boolean }): number {
  const value = Number(given);
  const { min, max, isWhole = false } = range;
  if (!(value >= min && value <= max) || (isWhole && !Number.isInteger(value)))
    throw new UsageProblem(
      `${option} must be a ${isWhole ? 'whole ' : ''}number from ${min} to ${max} (is: ${given}).`,
    );
  return value;
}

export function fileName(given: string | undefined): string | undefined {
  if (given !== undefined && !/^[\w.-]{1,100}$/.test(given))
    throw new UsageProblem(`--name may have letters, digits, dots and dashes (is: ${given}).`);
  return given;
}
