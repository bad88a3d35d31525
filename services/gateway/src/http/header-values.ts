import type { IncomingMessage } from 'node:http';

/** All values of the header `name`, in lower case; Node shows only the first one of some repeated headers. */
export function headerValues({ rawHeaders }: Pick<IncomingMessage, 'rawHeaders'>, name: string): string[] {
  const values: string[] = [];
  for (let index = 0; index < rawHeaders.length; index += 2) {
    const given = rawHeaders[index];
    if (given?.length === name.length && given.toLowerCase() === name) values.push(rawHeaders[index + 1] ?? '');
  }
  return values;
}
