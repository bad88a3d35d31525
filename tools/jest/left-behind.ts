/** What all test files of a process share, by name. */
export type Surroundings = ReadonlyMap<string, unknown>;

/** What Node, Jest and packages change once, when they are first used. */
const CHANGED_ONCE = [
  /^process\.(_.*|allowedNodeEnvironmentFlags|listenerCount\('exit'\))$/,
  /\$\$jest/,
  /^process\.chdir$/, // graceful-fs
  /^globalThis\.(mikro-orm-metadata|Symbol\(@mikro-orm\/.*|idx)$|^process\.env\.MIKRO_ORM_COLORS$/,
  /^Reflect\.\w*Metadata|^Reflect\.(decorate|metadata|Symbol\(@reflect-metadata)/,
  /^(globalThis\.)?__zod_globalConfig/,
];

/** The globals and what hangs on them, the environment, what listens to the process, its directory. */
export function lookAround(): Surroundings {
  const seen = new Map<string, unknown>([['process.cwd()', process.cwd()]]);
  const note = (name: string, object: object) => {
    for (const key of Reflect.ownKeys(object)) {
      const property = Object.getOwnPropertyDescriptor(object, key);
      seen.set(`${name}.${String(key)}`, property?.get ?? property?.value);
    }
  };
  for (const [name, value] of globals()) {
    note(name, value);
    if (isObject(value.prototype)) note(`${name}.prototype`, value.prototype);
  }
  note('globalThis', globalThis);
  note('process.env', process.env);
  for (const event of process.eventNames())
    seen.set(`process.listenerCount('${String(event)}')`, process.listenerCount(event));
  return seen;
}

export function differences(before: Surroundings, after: Surroundings): string[] {
  const names = new Set([...before.keys(), ...after.keys()]);
  const changed = [...names].filter((name) => !Object.is(before.get(name), after.get(name)));
  return changed.filter((name) => !CHANGED_ONCE.some((known) => known.test(name)));
}

/** Also those that Node only makes when they are read. The console is each file's own. */
function* globals(): Generator<[name: string, value: { prototype?: unknown }]> {
  for (const name of Object.getOwnPropertyNames(globalThis)) {
    const value = (globalThis as Record<string, unknown>)[name];
    if (name !== 'console' && isObject(value) && value !== globalThis) yield [name, value];
  }
}

const isObject = (value: unknown): value is { prototype?: unknown } =>
  (typeof value === 'object' && value !== null) || typeof value === 'function';
