import { unavailable } from '@taskmesh/contracts';
import { loadDumpInChild, type ChildLoadOptions, type LoadReport } from '@taskmesh/pg-rows';
import { connectionConfig, settingsQuery } from '@taskmesh/store/connection';
import { MAX_TABLES, READER_LOST } from '../archives/limits.ts';
import { RESTORED_SCHEMA } from '../databases/names.ts';

export interface Load extends Pick<ChildLoadOptions, 'path' | 'signal' | 'onProgress'> {
  /** The database to fill, with an unprivileged role's login. */
  url: string;
}

/** Leaves the statement timeout that the restore has set for the role. A read-only server can be restored. */
const SETTINGS = { search_path: 'pg_catalog', statement_timeout: null, default_transaction_read_only: 'off' };

/**
 * Loads the rows of a dump in a separate process: all or none.
 * @throws LoadError with the line that is not allowed or that PostgreSQL refused; the signal's reason
 */
export function loadDump({ url, ...load }: Load): Promise<LoadReport> {
  const { onConnect: _, ...connection } = connectionConfig({ url, name: 'taskmesh-restore' });
  return loadDumpInChild({
    ...load,
    connection,
    setUp: settingsQuery(SETTINGS),
    schema: RESTORED_SCHEMA,
    maxTables: MAX_TABLES,
    lost: (cause) => unavailable(READER_LOST, cause),
  });
}
