import { DatabaseError, escapeIdentifier, escapeLiteral, type Client } from 'pg';
import { withoutValues } from '../without-values.ts';

/** Connections to two databases of one server, as a role that may change both. Their `search_path` has to be `pg_catalog`. */
export interface Replacement {
  /** The database to replace, which is only read. */
  from: Client;
  /** The database that is to replace it. */
  to: Client;
}

interface Names {
  live: string;
  fresh: string;
}

/**
 * Applies the privileges on `from` and on its schema `public` to `to`. Call this before tables are created there. Returns a
 * description of each statement that the role was not permitted to run.
 */
export async function copyPrivileges(databases: Replacement): Promise<string[]> {
  const names = await namesOf(databases);
  return apply(databases, await statementsOf(databases.from, names, [GRANTS_ON_DATABASE, GRANTS_ON_SCHEMA]));
}

/**
 * Applies the settings of `from`, also those for single roles, its comment and limits, its default privileges and the
 * privileges on its tables, views and sequences to `to`. Call this when the tables exist, because default privileges affect
 * only later objects. Returns refusals like `copyPrivileges`.
 */
export async function copySettings(databases: Replacement): Promise<string[]> {
  const { from } = databases;
  const names = await namesOf(databases);
  const statements = await statementsOf(from, names, [GRANTS_ON_OBJECTS, DEFAULT_PRIVILEGES, PROPERTIES]);
  return apply(databases, [...statements, ...(await settingsOf(from, names))]);
}

/**
 * Does both for a database that was in use before: applies the settings and privileges of `from` to `to`, and withdraws what
 * `from` does not have.
 */
export async function renewSettings(databases: Replacement): Promise<string[]> {
  const statements = await statementsOf(databases.to, await namesOf(databases), [WITHDRAWALS]);
  const refused = await apply(databases, statements);
  return [...refused, ...(await copyPrivileges(databases)), ...(await copySettings(databases))];
}

async function namesOf({ from, to }: Replacement): Promise<Names> {
  return { live: await nameOf(from), fresh: await nameOf(to) };
}

async function nameOf(client: Client): Promise<string> {
  const { rows } = await client.query<{ name: string }>('select pg_catalog.current_database() as name');
  return rows[0]?.name ?? '';
}

/** The statement is not permitted, or refers to objects that `to` lacks: a column, an object, a table. */
const REFUSALS = new Set(['42501', '42703', '42704', '42P01']);

async function apply({ to }: Replacement, statements: string[]): Promise<string[]> {
  const refused: string[] = [];
  for (const text of statements)
    await to.query(text).catch((error: unknown) => {
      const known = withoutValues(error);
      if (!(error instanceof DatabaseError && known instanceof Error && REFUSALS.has(error.code ?? ''))) throw known;
      refused.push(`${withoutLiterals(text)}: ${known.message}`);
    });
  return refused;
}

/** Keeps only names, because values of settings and comments may be secret. */
const withoutLiterals = (text: string) =>
  text.replaceAll(/"(?:[^"]|"")*"|E?'(?:[^']|'')*'/g, (part) => (part.startsWith('"') ? part : '…'));

/** Each query returns statements; `$live` and `$fresh` stand for the databases' names. */
async function statementsOf(client: Client, { live, fresh }: Names, queries: string[]): Promise<string[]> {
  const found: string[] = [];
  for (const query of queries) {
    const text = query.replaceAll(/\$(live|fresh)/g, (mark) => escapeLiteral(mark === '$live' ? live : fresh));
    const { rows } = await client.query<[string]>({ text, rowMode: 'array' });
    found.push(...rows.map(([statement]) => statement));
  }
  return found;
}

/** Settings that are lists of names. PostgreSQL stores such a list as it prints it. */
const LISTS = new Set(['local_preload_libraries', 'search_path', 'session_preload_libraries', 'temp_tablespaces']);

/** Returns `ALTER DATABASE … SET` statements, including those for single roles. */
async function settingsOf(client: Client, { live, fresh }: Names): Promise<string[]> {
  const { rows } = await client.query<{ role: string | null; setting: string }>(
    `select rolname as role, unnest(setconfig) as setting
     from pg_db_role_setting join pg_database d on d.oid = setdatabase left join pg_roles r on r.oid = setrole
     where datname = $1`,
    [live],
  );
  return rows.map(({ role, setting }) => {
    const whose = role === null ? '' : `role ${escapeIdentifier(role)} in `;
    const [name = '', value = ''] = [setting.slice(0, setting.indexOf('=')), setting.slice(setting.indexOf('=') + 1)];
    const values = LISTS.has(name.toLowerCase()) ? elementsOf(value) : [value];
    return `alter ${whose}database ${escapeIdentifier(fresh)} set ${name.split('.').map(escapeIdentifier).join('.')} to ${values.map(escapeLiteral).join(', ')}`;
  });
}

/** Splits `"$user", public`. */
function elementsOf(list: string): string[] {
  const elements = list.match(/"(?:[^"]|"")*"|[^\s,]+/g) ?? [''];
  return elements.map((element) =>
    element.startsWith('"') ? element.slice(1, -1).replaceAll('""', '"') : element.toLowerCase(),
  );
}

const granteeSql = (oid: string) => `case ${oid} when 0 then 'public' else quote_ident(pg_get_userbyid(${oid})) end`;
const GRANT_OPTION = `case when is_grantable then ' with grant option' else '' end`;

const GRANTS_ON_DATABASE = `
  select format('revoke all on database %I from public, %I', $fresh, pg_get_userbyid(datdba)) from pg_database where datname = $live
  union all
  select * from (
    select format('grant %s on database %I to %s%s', string_agg(privilege_type, ', '), $fresh, ${granteeSql('grantee')}, ${GRANT_OPTION})
    from pg_database, aclexplode(coalesce(datacl, acldefault('d', datdba)))
    where datname = $live group by grantee, is_grantable) grants`;

const GRANTS_ON_SCHEMA = `
  select format('revoke all on schema public from public, %I', pg_get_userbyid(nspowner)) from pg_namespace where nspname = 'public'
  union all
  select * from (
    select format('grant %s on schema public to %s%s', string_agg(privilege_type, ', '), ${granteeSql('grantee')}, ${GRANT_OPTION})
    from pg_namespace, aclexplode(coalesce(nspacl, acldefault('n', nspowner)))
    where nspname = 'public' group by grantee, is_grantable) grants`;

const OBJECT_KINDS = `(values ('r', 'tables'), ('S', 'sequences'), ('f', 'functions'), ('T', 'types'), ('n', 'schemas')) kinds (type, name)`;

/** Default privileges that differ from PostgreSQL's, in either direction. */
const DEFAULT_PRIVILEGES = `
  select format('alter default privileges for role %I %s %s', pg_get_userbyid(defaclrole),
    case when defaclnamespace = 0 then '' else format('in schema %I', nspname) end, change)
  from pg_default_acl join ${OBJECT_KINDS} on type = defaclobjtype::text left join pg_namespace n on n.oid = defaclnamespace
    cross join lateral (
      select format('revoke all on %s from public, %I', kinds.name, pg_get_userbyid(defaclrole)) as change where defaclnamespace = 0
      union all
      select format('grant %s on %s to %s%s', string_agg(privilege_type, ', '), kinds.name, ${granteeSql('grantee')}, ${GRANT_OPTION})
      from aclexplode(defaclacl) group by grantee, is_grantable) changes
  where defaclnamespace = 0 or nspname = 'public'`;

/** Tables, views and sequences. */
const OBJECTS = `objects as (
    select c.oid, relowner as owner, relacl as acl, format('%s public.%I', case relkind when 'S' then 'sequence' else 'table' end, relname) as name
    from pg_class c where relnamespace = 'public'::regnamespace and relkind in ('r', 'p', 'v', 'S'))`;

/** Privileges on tables, columns and sequences, where any were granted or revoked. */
const GRANTS_ON_OBJECTS = `
  with ${OBJECTS}
  select format('revoke all on %s from public, %I', name, pg_get_userbyid(owner)) from objects where acl is not null
  union all
  select * from (
    select format('grant %s on %s to %s%s', string_agg(privilege_type, ', '), name, ${granteeSql('grantee')}, ${GRANT_OPTION})
    from objects, aclexplode(acl) group by name, grantee, is_grantable) grants
  union all
  select * from (
    select format('grant %s (%I) on %s to %s%s', privilege_type, attname, name, ${granteeSql('grantee')}, ${GRANT_OPTION})
    from objects join pg_attribute a on attrelid = oid, aclexplode(attacl) where attnum > 0) grants`;

const PROPERTIES = `
  with compared as (
    select l.oid as live, f.oid as fresh, shobj_description(l.oid, 'pg_database') as comment, l.datconnlimit as connections, l.datistemplate as template,
      shobj_description(f.oid, 'pg_database') as former_comment, f.datconnlimit as former_connections, f.datistemplate as former_template
    from pg_database l, pg_database f where l.datname = $live and f.datname = $fresh)
  select format('comment on database %I is %L', $fresh, comment) from compared where comment is distinct from former_comment
  union all
  select format('alter database %I connection limit %s', $fresh, connections) from compared where connections <> former_connections
  union all
  select format('alter database %I is_template %s', $fresh, template::text) from compared where template <> former_template`;

/** Revokes all privileges in the fresh database except the owners', and resets its settings. */
const WITHDRAWALS = `
  with ${OBJECTS}, granted as (
    select name, owner, acl from objects
    union all select name, owner, attacl from objects join pg_attribute on attrelid = oid
    union all select format('database %I', datname), datdba, datacl from pg_database where datname = $fresh
    union all select 'schema public', nspowner, nspacl from pg_namespace where nspname = 'public')
  select distinct format('revoke all on %s from %s cascade', name, ${granteeSql('grantee')}) from granted, aclexplode(acl) where grantee <> owner
  union all
  select distinct format('alter default privileges for role %I %s revoke all on %s from %s', pg_get_userbyid(defaclrole),
    case when defaclnamespace = 0 then '' else 'in schema public' end, kinds.name, ${granteeSql('grantee')})
  from pg_default_acl join ${OBJECT_KINDS} on type = defaclobjtype::text, aclexplode(defaclacl)
  where defaclnamespace in (0, 'public'::regnamespace) and grantee <> defaclrole
  union all
  select format('alter %s database %I reset all', case setrole when 0 then '' else format('role %I in', pg_get_userbyid(setrole)) end, $fresh)
  from pg_db_role_setting join pg_database d on d.oid = setdatabase where datname = $fresh`;
