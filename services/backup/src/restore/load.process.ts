import { loadDump } from '@taskmesh/pg-rows';
import { connect } from '@taskmesh/store/connection';
import { withoutValues } from '@taskmesh/store/without-values';
import { MAX_TABLES } from '../archives/limits.ts';
import { runChildJob } from '../child-job.ts';
import { RESTORED_SCHEMA } from '../databases/names.ts';

export interface LoadInput {
  /** A plain dump: SQL with COPY blocks, written by us, pg_dump or a person. */
  path: string;
  /** The database to fill, with an unprivileged role's login. */
  url: string;
}

/** Leaves the statement timeout that the restore has set for the role. A read-only server can be restored. */
const SETTINGS = { search_path: 'pg_catalog', statement_timeout: null, default_transaction_read_only: 'off' };

runChildJob(async ({ path, url }: LoadInput, onProgress) => {
  const client = await connect({ url, name: 'taskmesh-restore', settings: SETTINGS });
  const options = { schema: RESTORED_SCHEMA, maxTables: MAX_TABLES, describe: withoutValues, onProgress };
  return loadDump({ path, client, ...options });
});
