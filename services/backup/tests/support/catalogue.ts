import type { TestDatabase } from '@taskmesh/testing';

/** Everything in a database and its server except rows of tables, by name: a restore must not change it. */
export const DATABASE_STATE = `
  select jsonb_build_object(
    'database', (
      select jsonb_agg(jsonb_build_array(datname, pg_get_userbyid(datdba), datistemplate, datallowconn, datconnlimit, datcollate,
        datctype, spcname, shobj_description(d.oid, 'pg_database'),
        (select array_agg(concat_ws(' ', case grantee when 0 then 'public' else pg_get_userbyid(grantee) end, privilege_type, is_grantable) order by grantee, privilege_type)
         from aclexplode(coalesce(datacl, acldefault('d', datdba))))) order by datname)
      from pg_database d join pg_tablespace t on t.oid = dattablespace where datname = $1),
    'settings', (
      select jsonb_agg(jsonb_build_array(coalesce(rolname, ''), setting) order by rolname, setting)
      from pg_db_role_setting join pg_database d on d.oid = setdatabase left join pg_roles r on r.oid = setrole, unnest(setconfig) setting
      where datname = $1)) as state`;

/** The server's roles, databases, settings, tablespaces and files, without those of other tests. $1 is a prefix. */
export const SERVER_STATE = `
  select jsonb_build_object(
    'roles', (select jsonb_agg(to_jsonb(r) - 'oid' order by rolname) from pg_authid r where rolname !~ '^test_' or rolname like $1 || '%'),
    'members', (select jsonb_agg(to_jsonb(m) - 'oid' order by roleid, member, grantor) from pg_auth_members m
      where pg_get_userbyid(roleid) !~ '^(test_|unknown)' and pg_get_userbyid(member) !~ '^(test_|unknown)' or pg_get_userbyid(member) like $1 || '%'),
    'databases', (select jsonb_agg(jsonb_build_array(datname, pg_get_userbyid(datdba), datistemplate, datallowconn, datconnlimit, datacl::text) order by datname)
      from pg_database where datname !~ '^(test|taskmesh|auth)_' or datname like $1 || '%'),
    'settings', (select jsonb_agg(to_jsonb(s) order by setrole) from pg_db_role_setting s where setdatabase = 0 and setrole in (select oid from pg_roles where rolname !~ '^test_')),
    'parameters', (select jsonb_agg(to_jsonb(p) order by parname) from pg_parameter_acl p),
    'tablespaces', (select jsonb_agg(to_jsonb(t) || jsonb_build_object('comment', shobj_description(oid, 'pg_tablespace')) order by spcname) from pg_tablespace t),
    'comments', (select jsonb_agg(jsonb_build_array(rolname, shobj_description(oid, 'pg_authid')) order by rolname) from pg_roles where rolname !~ '^test_'),
    'labels', (select count(*) from pg_shseclabel),
    'origins', (select jsonb_agg(roname) from pg_replication_origin where roname !~ '^pg_'),
    'prepared', (select count(*) from pg_prepared_xacts where database !~ '^test_' or database like $1 || '%'),
    'slots', (select jsonb_agg(slot_name) from pg_replication_slots where database is null or database like $1 || '%'),
    'subscriptions', (select jsonb_agg(subname) from pg_subscription s join pg_database d on d.oid = subdbid where datname !~ '^(test|taskmesh)_' or datname like $1 || '%'),
    'files', (select jsonb_agg(file order by file) from pg_ls_dir('.') file),
    'file contents', (select jsonb_agg(md5(pg_read_file(file, true)) order by file)
      from unnest(array['postgresql.conf', 'postgresql.auto.conf', 'pg_hba.conf', 'pg_ident.conf']) file)) as state`;

/** Returns all of that and the content of the database, except rows. */
export const catalogueOf = async ({ name, query }: Pick<TestDatabase, 'name' | 'query'>) => ({
  ...(await query(DATABASE_STATE, [name]))[0],
  inside: await query(STORE_STATE),
});

/** A store's schemas, the objects in them, and the privileges on them. */
const STORE_STATE = `
  select jsonb_agg(line order by line) as state from (
    select concat_ws(' ', 'schema', nspname, pg_get_userbyid(nspowner), acl) as line
    from pg_namespace, lateral (select string_agg(concat_ws(':', grantee::regrole, privilege_type, is_grantable), ',' order by 1) as acl
      from (select a.* from aclexplode(coalesce(nspacl, acldefault('n', nspowner))) a order by grantee, privilege_type) a) rights
    where nspname !~ '^pg_(toast|temp)'
    union all
    select concat_ws(' ', 'relation', c.oid::regclass, relkind, pg_get_userbyid(relowner), acl)
    from pg_class c, lateral (select string_agg(concat_ws(':', grantee::regrole, privilege_type, is_grantable), ',' order by 1) as acl
      from (select a.* from aclexplode(relacl) a order by grantee, privilege_type) a) rights
    where c.oid >= 16384 and relkind <> 't' and relname !~ '^pg_toast'
    union all select concat_ws(' ', 'column', attrelid::regclass, attname, attacl::text) from pg_attribute where attacl is not null and attrelid >= 16384
    union all select concat_ws(' ', 'function', oid::regprocedure) from pg_proc where oid >= 16384
    union all select concat_ws(' ', 'cast', castsource::regtype, casttarget::regtype) from pg_cast where oid >= 16384
    union all select concat_ws(' ', 'extension', extname) from pg_extension
    union all select concat_ws(' ', 'event trigger', evtname) from pg_event_trigger
    union all select concat_ws(' ', 'default privileges', pg_get_userbyid(defaclrole), defaclobjtype, defaclacl::text) from pg_default_acl
    union all select concat_ws(' ', 'type', oid::regtype) from pg_type where oid >= 16384 and typname !~ '^pg_toast'
  ) lines`;
