import { Client } from 'pg';
import { runChildJob } from '../child/child-job.ts';
import { withoutValues } from '../without-values.ts';
import { loadDump } from './load-dump.ts';
import type { ChildLoad } from './load-in-child.ts';

runChildJob(async ({ connection, setUp, ...load }: ChildLoad, onProgress) => {
  const client = new Client(connection);
  client.on('error', () => undefined); // the query rejects as well
  await client.connect();
  if (setUp) await client.query(setUp);
  return loadDump({ ...load, client, describe: withoutValues, onProgress });
});
