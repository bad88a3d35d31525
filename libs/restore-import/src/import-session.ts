import { openSession, type Session } from '@taskmesh/database';
import { withoutValues } from '@taskmesh/database/without-values';

/**
 * A session in a database that was loaded from a backup, or beside one. What the database says of itself counts for
 * nothing: names mean PostgreSQL's own things, and no statement outlives `timeoutMs`, also when this process is gone. Its
 * errors never repeat what the rows hold.
 */
export async function openImportSession(
  url: string,
  { name, timeoutMs }: { name: string; timeoutMs: number },
): Promise<Session> {
  const settings = {
    search_path: 'pg_catalog,pg_temp',
    datestyle: 'ISO', // times go from one database to the other as text
    statement_timeout: String(timeoutMs),
    lock_timeout: '30s',
  };
  const session = await openSession({ url, name, settings, timeoutMs });
  const refuse = (error: unknown): never => {
    throw withoutValues(error);
  };
  return { ...session, run: (statement, values) => session.run<never>(statement, values).catch(refuse) };
}
