export const FIRST_USER_OID = 16_384;

/** Catalogues whose objects are never dumped, by the name for operators. */
export const COLLECTED = {
  operator: 'pg_operator',
  'operator class': 'pg_opclass',
  cast: 'pg_cast',
  conversion: 'pg_conversion',
  collation: 'pg_collation',
  'text search configuration': 'pg_ts_config',
  'text search dictionary': 'pg_ts_dict',
  extension: 'pg_extension',
  language: 'pg_language',
  'foreign server': 'pg_foreign_server',
  'event trigger': 'pg_event_trigger',
  publication: 'pg_publication',
  'statistics object': 'pg_statistic_ext',
  policy: 'pg_policy',
} as const;

export const isMember = (catalogue: string, oid: string): string =>
  `exists (select from pg_depend m where m.classid = '${catalogue}'::regclass and m.objid = ${oid} and m.deptype = 'e')`;

const isOfUser = (oid: string) => `${oid} >= ${FIRST_USER_OID}`;

/** A user's function that needs only what every database has. */
export const isPlainFunction = (p: string): string => `(${p}.prokind = 'f' and ${p}.prosqlbody is null
  and ${p}.prolang in (select oid from pg_language where lanname in ('sql', 'plpgsql'))
  and not ${isOfUser(`${p}.prorettype`)} and not ${isMember('pg_proc', `${p}.oid`)}
  and not exists (select from unnest(coalesce(${p}.proallargtypes, ${p}.proargtypes::oid[])) as arg where ${isOfUser('arg')}))`;

/** A table or a sequence of the store; `c` is its row in pg_class. */
export const isOurs = (c: string): string =>
  `(${c}.relnamespace = 'public'::regnamespace and ${c}.relkind in ('r', 'S') and not ${isMember('pg_class', `${c}.oid`)})`;

const NEVER_WRITTEN =
  ['pg_type', 'pg_opclass', 'pg_opfamily', 'pg_operator', 'pg_collation', 'pg_ts_config', 'pg_ts_dict', 'pg_am'] // prettier-ignore
    .map((catalogue) => `'${catalogue}'::regclass`)
    .join(', ');

/** Whether it depends on nothing that the dump omits, which would make its statement fail. */
export const standsAlone = (catalogue: string, oid: string): string =>
  `not exists (select from pg_depend d left join pg_proc p on d.refclassid = 'pg_proc'::regclass and p.oid = d.refobjid
     where d.classid = '${catalogue}'::regclass and d.objid = ${oid} and ${isOfUser('d.refobjid')}
       and (d.refclassid in (${NEVER_WRITTEN}) or p.oid is not null and not ${isPlainFunction('p')}))`;
