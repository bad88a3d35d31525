import { SERVER_VERSION, type Session, type Statement } from '../database/index.ts';

/** SQL: whether a text is a value of a type. In a session of an import only. */
export const isValue = (text: string, type: string): string => `pg_temp.is_value(${text}, '${type}')`;

const FIRST_WITH_ITS_OWN = 160_000;

const BY_SERVER: Statement = {
  name: 'import-is-value',
  text: `create function pg_temp.is_value(text, text) returns boolean language sql stable
    as 'select pg_catalog.pg_input_is_valid($1, $2)'`,
};

/** Before PostgreSQL 16 only an attempt tells. */
export const BY_ATTEMPT: Statement = {
  name: 'import-is-value-by-attempt',
  text: `create function pg_temp.is_value(value text, type text) returns boolean language plpgsql stable strict as $$
    begin
      execute pg_catalog.format('select %L::%s', value, type);
      return true;
    exception when data_exception then
      return false;
    end $$`,
};

/** Makes `isValue` known to a session. */
export async function provideIsValue(session: Pick<Session, 'run'>): Promise<void> {
  const [server] = await session.run<{ version: number }>({
    name: 'import-server-version',
    text: SERVER_VERSION,
  });
  await session.run((server?.version ?? 0) < FIRST_WITH_ITS_OWN ? BY_ATTEMPT : BY_SERVER);
}
