import { escapeIdentifier, escapeLiteral, type Client } from 'pg';

/**
 * Creates an empty database with the owner and the tablespace of another one on that server, in UTF-8 and with its locale,
 * because text sorts the same only with that. Takes minutes on a busy disk.
 * @throws Error when there is no database `like`, or one `name`
 */
export async function createDatabaseLike(
  client: Client,
  { name, like }: { name: string; like: string },
): Promise<void> {
  await client.query(createStatement(name, await describe(client, like)));
}

interface DatabaseProperties {
  owner: string;
  tablespace: string;
  collate: string;
  ctype: string;
  provider: string;
  locale: string | null;
  rules: string | null;
}

async function describe(client: Client, name: string): Promise<DatabaseProperties> {
  const { rows } = await client.query<DatabaseProperties>(
    `select pg_catalog.pg_get_userbyid(datdba) as owner, spcname as tablespace, datcollate as collate, datctype as ctype,
       datlocprovider as provider, pg_catalog.to_jsonb(d) ->> 'daticurules' as rules,
       coalesce(pg_catalog.to_jsonb(d) ->> 'datlocale', pg_catalog.to_jsonb(d) ->> 'daticulocale') as locale
     from pg_catalog.pg_database d join pg_catalog.pg_tablespace t on t.oid = dattablespace where datname = $1`,
    [name],
  );
  const [found] = rows;
  if (!found) throw new Error(`There is no database ${name}.`);
  return found;
}

function createStatement(
  name: string,
  { owner, tablespace, collate, ctype, provider, locale, rules }: DatabaseProperties,
): string {
  const localeClause = locale === null || provider === 'c' ? '' : localeOptions(provider, locale, rules);
  // Naming pg_default would require a privilege that only superusers have, although using it does not.
  const tablespaceClause = tablespace === 'pg_default' ? '' : `tablespace ${escapeIdentifier(tablespace)}`;
  return `create database ${escapeIdentifier(name)} owner ${escapeIdentifier(owner)} ${tablespaceClause}
    template template0 encoding 'UTF8' lc_collate ${escapeLiteral(collate)} lc_ctype ${escapeLiteral(ctype)} ${localeClause}`;
}

function localeOptions(provider: string, locale: string, rules: string | null): string {
  return provider === 'i'
    ? `locale_provider icu icu_locale ${escapeLiteral(locale)} ${rules === null ? '' : `icu_rules ${escapeLiteral(rules)}`}`
    : `locale_provider builtin builtin_locale ${escapeLiteral(locale)}`;
}
