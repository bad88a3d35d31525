import { inDatabase } from '@taskmesh/database';
import { randomBytes } from 'node:crypto';
import { escapeIdentifier, escapeLiteral, type Client } from 'pg';
import { maintenanceUrl, withClient } from './connect.ts';
import type { RestoreNames } from './names.ts';

/** What the role that loads may use up. */
export interface LoaderLimits {
  statementTimeoutMs: number;
  tempFileBytes: number;
}

/**
 * Makes an empty database like the live one, and a role that owns it and can do nothing else. Only that role may connect.
 * Returns the role's URL of the new database.
 */
export async function createFreshDatabase(
  adminUrl: string,
  names: RestoreNames,
  limits: LoaderLimits,
): Promise<string> {
  const password = randomBytes(24).toString('base64url');
  await withClient(maintenanceUrl(adminUrl), async (admin) => {
    await createLoader(admin, { name: names.loader, password, limits });
    await admin.query(await createStatement(admin, names));
    await admin.query(`revoke all on database ${escapeIdentifier(names.fresh)} from public`);
  });
  const url = new URL(inDatabase(adminUrl, names.fresh));
  url.username = names.loader;
  url.password = password;
  return url.href;
}

async function createLoader(
  admin: Client,
  { name, password, limits }: { name: string; password: string; limits: LoaderLimits },
): Promise<void> {
  const role = escapeIdentifier(name);
  await admin.query(
    `create role ${role} login nosuperuser nocreatedb nocreaterole noreplication nobypassrls connection limit 4
     password ${escapeLiteral(password)}`,
  );
  // An administrator that is no superuser must be a member to give things to this role and to take them over.
  await admin.query(`grant ${role} to current_user`);
  await admin.query(`alter role ${role} set statement_timeout = ${Math.ceil(limits.statementTimeoutMs)}`);
  const { rows } = await admin.query<{ is_superuser: string }>('show is_superuser');
  if (rows[0]?.is_superuser === 'on')
    await admin.query(`alter role ${role} set temp_file_limit = '${Math.ceil(limits.tempFileBytes / 1024)}kB'`);
}

interface Locale {
  collate: string;
  ctype: string;
  provider: string;
  locale: string | null;
}

/** Text sorts as before only with the same locale. */
async function createStatement(admin: Client, { live, fresh, loader }: RestoreNames): Promise<string> {
  const { rows } = await admin.query<Locale>(
    `select datcollate collate, datctype ctype, datlocprovider provider,
       coalesce(to_jsonb(d) ->> 'datlocale', to_jsonb(d) ->> 'daticulocale') locale
     from pg_database d where datname = $1`,
    [live],
  );
  const [found] = rows;
  if (!found) throw new Error(`There is no database ${live}.`);
  const { collate, ctype, provider, locale } = found;
  const special = locale === null || provider === 'c' ? '' : localeOptions(provider, locale);
  return `create database ${escapeIdentifier(fresh)} owner ${escapeIdentifier(loader)} template template0 encoding 'UTF8'
    lc_collate ${escapeLiteral(collate)} lc_ctype ${escapeLiteral(ctype)} ${special}`;
}

function localeOptions(provider: string, locale: string): string {
  return provider === 'i'
    ? `locale_provider icu icu_locale ${escapeLiteral(locale)}`
    : `locale_provider builtin builtin_locale ${escapeLiteral(locale)}`;
}

/**
 * Gives everything of the loading role to the live database's owner, lets the same roles in, and removes the loading role.
 */
export async function handOver(adminUrl: string, names: RestoreNames): Promise<void> {
  const fresh = escapeIdentifier(names.fresh);
  const loader = escapeIdentifier(names.loader);
  await withClient(inDatabase(adminUrl, names.fresh), async (admin) => {
    const { rows } = await admin.query<{ owner: string }>(
      'select pg_get_userbyid(datdba) as owner from pg_database where datname = $1',
      [names.live],
    );
    const owner = escapeIdentifier(rows[0]?.owner ?? '');
    await admin.query(`reassign owned by ${loader} to ${owner}`);
    await admin.query(`drop owned by ${loader}`);
    await admin.query('alter schema public owner to pg_database_owner');
    await admin.query('grant usage on schema public to public');
    for (const { grantee, privileges } of await grantsOn(admin, names.live))
      await admin.query(`grant ${privileges} on database ${fresh} to ${grantee}`);
    await admin.query(`drop role ${loader}`);
  });
}

async function grantsOn(admin: Client, database: string): Promise<{ grantee: string; privileges: string }[]> {
  const { rows } = await admin.query<{ grantee: string; privileges: string }>(
    `select case grantee when 0 then 'public' else quote_ident(pg_get_userbyid(grantee)) end as grantee,
       string_agg(privilege_type, ', ') as privileges
     from pg_database, aclexplode(coalesce(datacl, acldefault('d', datdba)))
     where datname = $1 group by 1`,
    [database],
  );
  return rows;
}

/** Removes what a restore made, as far as it is there. */
export async function dropFresh(adminUrl: string, names: RestoreNames): Promise<void> {
  await withClient(maintenanceUrl(adminUrl), async (admin) => {
    await admin.query(`drop database if exists ${escapeIdentifier(names.fresh)} with (force)`);
    await dropLoader(admin, names.loader);
  });
}

async function dropLoader(admin: Client, loader: string): Promise<void> {
  const role = escapeIdentifier(loader);
  const { rows } = await admin.query('select 1 from pg_roles where rolname = $1', [loader]);
  if (rows.length === 0) return;
  await admin.query(`drop owned by ${role}`); // rights on databases that others made
  await admin.query(`drop role if exists ${role}`);
}
