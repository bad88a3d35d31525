import { openSession, type Session } from '../database/index.ts';
import { withoutValues } from '../database/without-values.ts';
import { provideIsValue } from './is-value.ts';

/**
 * A session in a database that was loaded from a backup, or beside one. The database's own settings have no effect:
 * names mean PostgreSQL's own objects, and no statement outlives `timeoutMs`, even when this process dies. Errors never
 * contain values of rows.
 */
export async function openImportSession(
  url: string,
  { name, timeoutMs }: { name: string; timeoutMs: number },
): Promise<Session> {
  const settings = {
    search_path: 'pg_catalog,pg_temp',
    statement_timeout: String(timeoutMs),
    lock_timeout: '30s',
    default_transaction_read_only: 'off', // an operator may have frozen the store until it is restored
  };
  const session = await openSession({ url, name, settings, timeoutMs });
  const refuse = (error: unknown): never => {
    throw withoutValues(error);
  };
  try {
    await provideIsValue(session);
  } catch (error) {
    await session.close();
    throw error;
  }
  return { ...session, run: (statement, values) => session.run<never>(statement, values).catch(refuse) };
}
