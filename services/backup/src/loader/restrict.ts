import { LoadError } from './load-error.ts';
import type { MetaCommand } from './script-reader.ts';

/** The only psql commands allowed in dumps are pg_dump's `\restrict KEY` … `\unrestrict KEY`; they do nothing here. */
export function createRestrictCheck(): (command: MetaCommand) => void {
  let key: string | undefined;
  return ({ meta, line }) => {
    const [, name, given] = /^\\(restrict|unrestrict) ([A-Za-z0-9]+)$/.exec(meta) ?? [];
    const opens = name === 'restrict' && key === undefined;
    const closes = name === 'unrestrict' && key === given;
    if (!opens && !closes) throw new LoadError(`Line ${line} is a command for psql, which is not allowed in a dump.`);
    key = opens ? given : undefined;
  };
}
