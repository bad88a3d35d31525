import { randomInt } from 'node:crypto';
import { qualified, START, type Databases, type KeyType, type Session, type Table } from './rows.ts';

/** Keys are compared in batches, and differing rows are copied in smaller ones. */
const COMPARE_BATCH_SIZE = 10_000;
const COPY_BATCH_SIZE = 5_000;
/** A power of 2: few enough to compare all buckets, many enough that one change makes few rows suspect. */
const BUCKETS = 8_192;
const MAX_SEED = 2 ** 47;
const HASHES: Record<KeyType, string> = {
  uuid: 'uuid_hash_extended',
  text: 'hashtextextended',
  bigint: 'hashint8extended',
};

export interface MirroredTable extends Table {
  /** The primary key. */
  key: string;
  keyType: KeyType;
  /**
   * Rows are copied only if `to` has their owner, or if they have none: `column` is a uuid, which refers to `id` of `table` in
   * the same schema. If absent, all rows are copied.
   */
  owner?: { column: string; table: string };
  /** Called with the keys of rows whose owner is missing in `to`, as the text of an SQL array. */
  onOrphans?: (keys: string) => Promise<void>;
}

/** Each field is the text of an SQL array (`last`: a key), or null if there are no rows. */
interface Compared extends Record<string, string | null> {
  keys: string | null;
  owners: string | null;
  digests: string | null;
  last: string | null;
}

interface Missing extends Record<string, string | null> {
  keys: string | null;
  orphans: string | null;
}

/**
 * Makes a table in `to` equal to the one in `from`, which has the same columns, inside a transaction in `to`. Equal rows stay
 * untouched, so repeating it copies only later changes. Rows are equal if PostgreSQL's hashes of them are, as are those of the numerics 1.0
 * and 1.00; columns of a type without a hash, such as json, are an error. Rows must average below 100 KB, as in `eachBatch`.
 */
export async function mirrorRows({ from, to }: Databases, table: MirroredTable): Promise<void> {
  const { name, key, keyType, owner, onOrphans } = table;
  const target = qualified(table);
  const rows = `${target} r`;
  const there = `pg_temp.there_${name}`;
  /** Random, so that no client can craft values with equal digests. */
  const seed = randomInt(MAX_SEED);
  const digest = `hash_record_extended(r, $1::bigint)`;
  const bucket = `(${HASHES[keyType]}(r.${key}, 0) & ${BUCKETS - 1})::integer`;
  const isSuspect = `get_bit($2::varbit, ${bucket}) = 1`;

  const sums = `select ${bucket} as bucket, bit_xor(${digest})::text as sum from ${rows} group by 1`;
  const sumsOf = async (session: Session) =>
    new Map((await session.run<{ bucket: number; sum: string }>(sums, [seed])).map((row) => [row.bucket, row.sum]));
  const [fromSums, toSums] = await Promise.all([sumsOf(from), sumsOf(to)]);
  const suspect = Array.from({ length: BUCKETS }, (_, at) => Number(fromSums.get(at) !== toSums.get(at))).join('');
  if (!suspect.includes('1')) return;

  const columns = `key ${keyType} primary key, owner uuid, digest bigint`;
  await to.run(`create temporary table there_${name} (${columns}) on commit drop`);
  const compare = `
    select array_agg(key)::text as keys, array_agg(owner)::text as owners, array_agg(digest)::text as digests,
      (array_agg(key::text order by key desc))[1] as last
    from (
      select r.${key} as key, ${owner ? `r.${owner.column}` : 'null::uuid'} as owner, ${digest} as digest
      from ${rows} where r.${key} > $3::${keyType} and ${isSuspect} order by r.${key} limit ${COMPARE_BATCH_SIZE}
    ) compared`;
  const insertKeys = `insert into ${there} select * from unnest($1::${keyType}[], $2::uuid[], $3::bigint[])`;
  for (let last: string | null = START[keyType]; last !== null;) {
    const batches: Compared[] = await from.run<Compared>(compare, [seed, suspect, last]);
    const [batch] = batches;
    last = batch?.last ?? null;
    if (last !== null) await to.run(insertKeys, [batch?.keys, batch?.owners, batch?.digests]);
  }
  await to.run(`analyze ${there}`);
  const equal = `t.key = r.${key} and t.digest = ${digest}`;
  const differing = `delete from ${rows} where ${isSuspect} and not exists (select from ${there} t where ${equal})`;
  await to.run(differing, [seed, suspect]);
  await to.run(`delete from ${there} t using ${rows} where r.${key} = t.key`);

  const belongs = owner
    ? `owner is null or exists (select from ${qualified({ ...table, name: owner.table })} o where o.id = owner)`
    : 'true';
  const takeBatch = `
    with batch as (
      delete from ${there} where key = any (array(select key from ${there} limit ${COPY_BATCH_SIZE}))
      returning key, (${belongs}) as belongs
    )
    select (array_agg(key) filter (where belongs))::text as keys,
      (array_agg(key) filter (where not belongs))::text as orphans
    from batch`;
  const read = `select json_agg(r)::text as rows from ${rows} where r.${key} = any ($1::${keyType}[])`;
  const write = `insert into ${target} select * from json_populate_recordset(null::${target}, $1::json)`;
  for (;;) {
    const [missing] = await to.run<Missing>(takeBatch);
    if (!missing?.keys && !missing?.orphans) break;
    if (missing.orphans) await onOrphans?.(missing.orphans);
    const [found] = missing.keys ? await from.run<{ rows: string | null }>(read, [missing.keys]) : [];
    if (found?.rows) await to.run(write, [found.rows]);
  }
  await to.run(`drop table ${there}`); // the transaction may mirror the table again
}
