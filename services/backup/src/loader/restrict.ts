import { LoadError } from './load-error.ts';
import type { MetaCommand } from './script-reader.ts';

/** pg_dump's pair `\restrict KEY` … `\unrestrict KEY` is the only thing for psql that a dump may hold; it does nothing here. */
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
