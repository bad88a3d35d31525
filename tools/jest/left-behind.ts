/** What all test files of a process share, by name. */
export type Surroundings = ReadonlyMap<string, unknown>;

/** The globals and what hangs on them, the environment, what listens to the process, its directory. */
export function lookAround(): Surroundings {
  const seen = new Map<string, unknown>([['process.cwd()', process.cwd()]]);
  void process.allowedNodeEnvironmentFlags; // made when it is read
  const note = (name: string, object: object) => {
    for (const key of Reflect.ownKeys(object)) {
      const property = Object.getOwnPropertyDescriptor(object, key);
      if (!isInternal(key)) seen.set(`${name}.${String(key)}`, property?.get ?? property?.value);
    }
  };
  for (const [name, value] of globals()) {
    note(name, value);
    if (isObject(value.prototype)) note(`${name}.prototype`, value.prototype);
  }
  note('globalThis', globalThis);
  note('process.env', process.env);
  // Packages listen to the exit from when they are loaded.
  for (const event of process.eventNames().filter((name) => name !== 'exit'))
    seen.set(`process.listenerCount('${String(event)}')`, process.listenerCount(event));
  return seen;
}

export function differences(before: Surroundings, after: Surroundings): string[] {
  const names = new Set([...before.keys(), ...after.keys()]);
  return [...names].filter((name) => !Object.is(before.get(name), after.get(name)));
}

/** Also those that Node only makes when they are read. The console is each file's own. */
function* globals(): Generator<[name: string, value: { prototype?: unknown }]> {
  for (const name of Object.getOwnPropertyNames(globalThis)) {
    const value = (globalThis as Record<string, unknown>)[name];
    if (name !== 'console' && !isInternal(name) && isObject(value) && value !== globalThis) yield [name, value];
  }
}

const isObject = (value: unknown): value is { prototype?: unknown } =>
  (typeof value === 'object' && value !== null) || typeof value === 'function';

/** As `process._events`, and what Jest, MikroORM and graceful-fs change once. */
const isInternal = (key: string | symbol) => /^_|\$\$jest|mikro-orm|^MIKRO_ORM_COLORS$|^idx$|^chdir$/.test(String(key));
