import { number, parseOptions, UsageError } from '@taskmesh/local';

/** How an option is parsed, and its help text. Its name is derived from its key: `warmUp` is `--warm-up`. */
interface Option<Value> {
  /** The placeholder for its value, as in `--seconds <n>`; a flag has none. */
  placeholder?: string;
  help: string;
  /** @throws UsageError */
  read(form: string, value: string | boolean | undefined, quick: boolean): Value;
}

/** The default, and the default with `--quick`. */
type Defaults<Value> = readonly [standard: Value, quick?: Value];

interface Limits {
  min?: number;
  max?: number;
}

const option = <Value>(
  placeholder: string,
  description: string,
  [standard, quick = standard]: Defaults<Value>,
  parse: (form: string, text: string) => Value,
): Option<Value> => ({
  placeholder,
  help: `${description} (default ${String(standard)}${quick === standard ? '' : `, quick ${String(quick)}`})`,
  read: (form, value, isQuick) => (typeof value === 'string' ? parse(form, value) : isQuick ? quick : standard),
});

export const flag = (help: string): Option<boolean> => ({ help, read: (_form, value) => value === true });

export const amount = (description: string, standard: Defaults<number>, { min = 0.05, max = 600 }: Limits = {}) =>
  option('<n>', description, standard, (form, text) => number(form, text, { min, max }));

export const count = (description: string, standard: Defaults<number>, { min = 1, max = 100 }: Limits = {}) =>
  option('<n>', description, standard, (form, text) => number(form, text, { min, max, isWhole: true }));

export const counts = (description: string, standard: number[], quick: number[], max: number) =>
  option('<list>', description, [standard, quick], (form, text) =>
    text.split(',').map((each) => number(form, each, { min: 1, max, isWhole: true })),
  );

/** Selects some names, in the order of `all`. */
export const choice = <Name extends string>(
  description: string,
  all: readonly Name[],
  standard: Defaults<readonly Name[]> = [all],
): Option<readonly Name[]> =>
  option('<list>', `${description}: ${all.join(', ')}`, standard, (form, text) => {
    const wanted = text.split(',').map((name) => name.trim());
    const unknown = wanted.filter((name) => !all.some((known) => known === name));
    if (unknown.length === 0) return all.filter((name) => wanted.includes(name));
    throw new UsageError(`${form} knows ${all.join(', ')} (not: ${unknown.join(', ')}).`);
  });

/** The options of every benchmark. */
const COMMON = {
  quick: flag('short rounds: shows that it works, but gives only rough figures'),
  profile: flag('also write CPU profiles of the servers, for DevTools or speedscope; they are slower meanwhile'),
  name: {
    ...option('<name>', 'file in bench/results', ['the time'], (_form, text) => text),
    read(form: string, value: string | boolean | undefined) {
      if (value === undefined || /^[\w.-]{1,100}$/.test(String(value))) return value as string | undefined;
      throw new UsageError(`${form} may have letters, digits, dots and dashes (is: ${value}).`);
    },
  },
  publish: flag('also write the tables into the documentation'),
} satisfies Record<string, Option<unknown>>;

type Definitions = Record<string, Option<unknown>>;
type Values<Options extends Definitions> = { [Key in keyof Options]: ReturnType<Options[Key]['read']> };

/** Defines the options of a benchmark: the help text and the parser. */
export function defineOptions<Own extends Definitions>(command: string, description: string, own: Own) {
  const options: [name: string, key: string, option: Option<unknown>][] = Object.entries({ ...own, ...COMMON }).map(
    ([key, each]) => [key.replaceAll(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`), key, each],
  );
  const named = (isText: boolean) =>
    options.filter(([, , { placeholder }]) => (placeholder !== undefined) === isText).map(([name]) => name);
  const forms = options.map(([name, , { placeholder = '' }]) => `--${name} ${placeholder}`);
  const width = Math.max(...forms.map(({ length }) => length));
  return {
    help: [
      `npm run bench -- ${command} [<options>]\n${description.trim()}\n`,
      ...options.map(([, , { help }], index) => `  ${forms[index]?.padEnd(width)}  ${help}`),
    ].join('\n'),
    /** @throws UsageError */
    read(args: string[]) {
      const parsed: Partial<Record<string, string | boolean>> = parseOptions(args, {
        texts: named(true),
        flags: named(false),
      });
      const values = options.map(([name, key, { read }]) => [
        key,
        read(`--${name}`, parsed[name], parsed.quick === true),
      ]);
      return { ...(Object.fromEntries(values) as Values<Own & typeof COMMON>), help: parsed.help === true }; // read by its option
    },
  };
}
