/** The state that all test files of a process share, by name. */
export type Surroundings = ReadonlyMap<string, unknown>;

/** State that Node and packages change once, when they are first used. */
const CHANGED_ONCE = [
  /^process\.(_\w+|allowedNodeEnvironmentFlags|chdir|cwd|emit|env\.MIKRO_ORM_COLORS|listenerCount\('exit'\))$/,
  /^globalThis\.(__\w+|@wry\/.*|mikro-orm-metadata|idx|awslambda|Symbol\((?!undici).*)$/,
  /^Reflect\.(decorate|metadata|\w+Metadata|\w+MetadataKeys|Symbol\(@reflect-metadata.*)$/,
];

const NODE_GLOBALS = Object.getOwnPropertyNames(globalThis).filter(
  (name) => !['console', 'global', 'globalThis'].includes(name),
);

/** Records the globals, the properties of Node's globals, the environment, the process's listeners and its directory. */
export function recordSurroundings(): Surroundings {
  const state = new Map<string, unknown>([['process.cwd()', process.cwd()]]);
  const record = (name: string, object: object) => {
    for (const key of Reflect.ownKeys(object)) {
      const property = Object.getOwnPropertyDescriptor(object, key);
      state.set(`${name}.${String(key)}`, property?.get ?? property?.value);
    }
  };
  for (const name of NODE_GLOBALS) {
    const value = (globalThis as Record<string, unknown>)[name];
    if (!isObject(value)) continue;
    record(name, value);
    if (isObject(value.prototype)) record(`${name}.prototype`, value.prototype);
  }
  record('globalThis', globalThis);
  record('process.env', process.env);
  for (const event of process.eventNames())
    state.set(`process.listenerCount('${String(event)}')`, process.listenerCount(event));
  return state;
}

export function differences(before: Surroundings, after: Surroundings): string[] {
  const names = new Set([...before.keys(), ...after.keys()]);
  const changed = [...names].filter((name) => !Object.is(before.get(name), after.get(name)));
  return changed.filter((name) => !CHANGED_ONCE.some((known) => known.test(name)));
}

const isObject = (value: unknown): value is { prototype?: unknown } =>
  (typeof value === 'object' && value !== null) || typeof value === 'function';
