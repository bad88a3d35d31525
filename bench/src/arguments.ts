import { number, parseOptions, UsageError } from '@taskmesh/local';

/** How an option is read, and how help tells of it. */
interface Option<Value> {
  /** `--seconds <n>`, or `--quick`; absent: nobody chooses it, it depends on `--quick` alone. */
  form?: string;
  help?: string;
  /** @throws UsageError */
  read: (given: string | boolean | undefined, quick: boolean) => Value;
}

/** What is read when nothing is given: the second one with `--quick`. */
type Usual = string | readonly [usual: string, quick: string];

interface Limits {
  min?: number;
  max?: number;
}

export function option<Value>(
  form: string,
  about: string,
  usual: Usual,
  read: (text: string, quick: boolean) => Value,
) {
  const [slow, fast] = typeof usual === 'string' ? [usual] : usual;
  const help = `${about} (default ${slow}${fast === undefined ? '' : `, quick ${fast}`})`;
  const unlessGiven = (quick: boolean) => (quick && fast !== undefined ? fast : slow);
  return {
    ...{ form, help },
    read: (given, quick) => read(typeof given === 'string' ? given : unlessGiven(quick), quick),
  } satisfies Option<Value>;
}

export const flag = (form: string, help: string) =>
  ({ form, help, read: (given) => given === true }) satisfies Option<boolean>;

/** What is no option, but has another value with `--quick`. */
export const unlessQuick = <Value>(slow: Value, fast: Value) =>
  ({ read: (_: unknown, quick: boolean) => (quick ? fast : slow) }) satisfies Option<Value>;

export const amount = (form: string, help: string, usual: Usual, { min = 0.05, max = 600 }: Limits = {}) =>
  option(form, help, usual, (text) => number(nameOf(form), text, { min, max }));

export const wholeNumber = (form: string, text: string, { min = 1, max = 100 }: Limits = {}) =>
  number(nameOf(form), text, { min, max, isWhole: true });

export const count = (form: string, help: string, usual: Usual, limits: Limits = {}) =>
  option(form, help, usual, (text) => wholeNumber(form, text, limits));

/** Whole numbers with commas between them. */
export const counts = (form: string, help: string, usual: Usual, limits: Limits = {}) =>
  option(form, help, usual, (text) => text.split(',').map((each) => wholeNumber(form, each, limits)));

/** Some of these, in their order; all of them unless it is said which. */
export function list<Name extends string>(form: string, about: string, all: readonly Name[], usual = all) {
  const choose = (given: string): Name[] => {
    const wanted = given.split(',').map((name) => name.trim());
    const unknown = wanted.filter((name) => !all.some((known) => known === name));
    if (unknown.length === 0) return all.filter((name) => wanted.includes(name));
    throw new UsageError(`${nameOf(form)} knows ${all.join(', ')} (not: ${unknown.join(', ')}).`);
  };
  return {
    ...{ form, help: `${about}: ${all.join(', ')}${usual === all ? '' : ` (default ${usual.join()})`}` },
    read: (given) => (typeof given === 'string' ? choose(given) : [...usual]),
  } satisfies Option<Name[]>;
}

export const NAME: Option<string | undefined> = {
  ...{ form: '--name <name>', help: 'name of the file in bench/results (default: the time)' },
  read: (given) => {
    if (typeof given !== 'string') return undefined;
    if (/^[\w.-]{1,100}$/.test(given)) return given;
    throw new UsageError(`--name may have letters, digits, dots and dashes (is: ${given}).`);
  },
};
export const PUBLISH = flag('--publish', 'also write what is printed to bench/README.md');
export const PROFILE = flag(
  '--profile',
  "instead of figures, show where the servers' CPU time goes, by package and function",
);

type Values<Options> = { [Key in keyof Options]: Options[Key] extends Option<infer Value> ? Value : never };

/** The options of one benchmark: what `--help` prints, and how arguments are read. */
export function defineOptions<Own extends Record<string, Option<unknown>>>(command: string, about: string, own: Own) {
  const shown = Object.values(own).flatMap(({ form, help }) => (form ? [{ form, help }] : []));
  const width = Math.max(...shown.map(({ form }) => form.length));
  const named = (isText: boolean) =>
    shown.filter(({ form }) => form.includes(' ') === isText).map(({ form }) => nameOf(form).slice(2));
  return {
    help: [
      `${command} [<options>]\n${about.trim()}\n`,
      ...shown.map(({ form, help }) => `  ${form.padEnd(width)}  ${help}`),
    ].join('\n'),
    /** @throws UsageError */
    read(args: string[]) {
      const parameters = { texts: named(true), flags: named(false) };
      const given: { help?: boolean; [name: string]: string | boolean | undefined } = parseOptions(args, parameters);
      const values = Object.entries(own).map(([key, { form = '--', read }]) => {
        return [key, read(given[nameOf(form).slice(2)], given.quick === true)];
      });
      return { ...(Object.fromEntries(values) as Values<Own>), help: given.help === true }; // read as its option says
    },
  };
}

const nameOf = (form: string) => form.split(' ')[0] ?? form;
