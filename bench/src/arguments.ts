import { UsageError } from '@taskmesh/local';

export { number, parseOptions } from '@taskmesh/local';

/** What every benchmark has. @throws UsageError */
export function commonOptions(values: { name?: string; publish?: boolean; help?: boolean }) {
  return { name: fileName(values.name), publish: values.publish === true, help: values.help === true };
}

export function list<Name extends string>(option: string, given: string | undefined, all: readonly Name[]): Name[] {
  if (given === undefined) return [...all];
  const wanted = given.split(',').map((name) => name.trim());
  const unknown = wanted.filter((name) => !all.some((known) => known === name));
  if (unknown.length > 0) throw new UsageError(`${option} knows ${all.join(', ')} (not: ${unknown.join(', ')}).`);
  return all.filter((name) => wanted.includes(name));
}

export function fileName(given: string | undefined): string | undefined {
  if (given !== undefined && !/^[\w.-]{1,100}$/.test(given))
    throw new UsageError(`--name may have letters, digits, dots and dashes (is: ${given}).`);
  return given;
}
