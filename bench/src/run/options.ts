import { number, parseOptions, UsageError } from '@taskmesh/local';

/** How an option is parsed, and its help text. Its name is derived from its key: `warmUp` is `--warm-up`. */
interface Option<Value> {
  /** The placeholder for its value, as in `--seconds <n>`; a flag has none. */
  takes?: string;
  help: string;
  /** @throws UsageError */
  read(form: string, given: string | boolean | undefined, quick: boolean): Value;
}

/** The default, and the default with `--quick`. */
type Usual<Value> = readonly [usual: Value, quick?: Value];

interface Limits {
  min?: number;
  max?: number;
}

const option = <Value>(
  takes: string,
  about: string,
  [usual, quick = usual]: Usual<Value>,
  parse: (form: string, text: string) => Value,
): Option<Value> => ({
  takes,
  help: `${about} (default ${String(usual)}${quick === usual ? '' : `, quick ${String(quick)}`})`,
  read: (form, given, isQuick) => (typeof given === 'string' ? parse(form, given) : isQuick ? quick : usual),
});

export const flag = (help: string): Option<boolean> => ({ help, read: (_form, given) => given === true });

export const amount = (about: string, usual: Usual<number>, { min = 0.05, max = 600 }: Limits = {}) =>
  option('<n>', about, usual, (form, text) => number(form, text, { min, max }));

export const count = (about: string, usual: Usual<number>, { min = 1, max = 100 }: Limits = {}) =>
  option('<n>', about, usual, (form, text) => number(form, text, { min, max, isWhole: true }));

export const counts = (about: string, usual: number[], quick: number[], max: number) =>
  option('<list>', about, [usual, quick], (form, text) =>
    text.split(',').map((each) => number(form, each, { min: 1, max, isWhole: true })),
  );

/** Selects some names, in the order of `all`. */
export const choice = <Name extends string>(
  about: string,
  all: readonly Name[],
  usual: Usual<readonly Name[]> = [all],
): Option<readonly Name[]> =>
  option('<list>', `${about}: ${all.join(', ')}`, usual, (form, text) => {
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
    read(form: string, given: string | boolean | undefined) {
      if (given === undefined || /^[\w.-]{1,100}$/.test(String(given))) return given as string | undefined;
      throw new UsageError(`${form} may have letters, digits, dots and dashes (is: ${given}).`);
    },
  },
  publish: flag('also write the tables into the documentation'),
} satisfies Record<string, Option<unknown>>;

type Definitions = Record<string, Option<unknown>>;
type Values<Options extends Definitions> = { [Key in keyof Options]: ReturnType<Options[Key]['read']> };

/** Defines the options of a benchmark: the help text and the parser. */
export function defineOptions<Own extends Definitions>(command: string, about: string, own: Own) {
  const options: [name: string, key: string, option: Option<unknown>][] = Object.entries({ ...own, ...COMMON }).map(
    ([key, each]) => [key.replaceAll(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`), key, each],
  );
  const named = (isText: boolean) =>
    options.filter(([, , { takes }]) => (takes !== undefined) === isText).map(([name]) => name);
  const forms = options.map(([name, , { takes = '' }]) => `--${name} ${takes}`);
  const width = Math.max(...forms.map(({ length }) => length));
  return {
    help: [
      `npm run bench -- ${command} [<options>]\n${about.trim()}\n`,
      ...options.map(([, , { help }], index) => `  ${forms[index]?.padEnd(width)}  ${help}`),
    ].join('\n'),
    /** @throws UsageError */
    read(args: string[]) {
      const given: Partial<Record<string, string | boolean>> = parseOptions(args, {
        texts: named(true),
        flags: named(false),
      });
      const values = options.map(([name, key, { read }]) => [
        key,
        read(`--${name}`, given[name], given.quick === true),
      ]);
      return { ...(Object.fromEntries(values) as Values<Own & typeof COMMON>), help: given.help === true }; // read by its option
    },
  };
}
