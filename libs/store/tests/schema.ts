import { createTestDatabase } from '@taskmesh/testing';
import { escapeLiteral, type Client } from 'pg';
import type { Database, StoreOptions } from '../src/database/database.ts';
import type { Statement } from '../src/database/prepared-query.ts';
import { silent } from './open-database.ts';

/**
 * Returns the SQL that would turn the migrated schema into the one that the entities describe; empty when they agree.
 * Tables without an entity, which only statements use, are ignored.
 *
 * MikroORM does not compare storage parameters (fillfactor, autovacuum) or functions, and compares triggers defined as SQL
 * only by name; these exist only in the migrations. (The catalogue view that it reads omits TRUNCATE triggers.)
 */
export function schemaDifference(create: (options: StoreOptions) => Promise<Database>): Promise<string> {
  return withMigrated(create, async (database) => {
    const difference = await database.retry((em) =>
      em.getPlatform().getSchemaGenerator(em.getDriver(), em).getUpdateSchemaSQL({ wrap: false, dropTables: false }),
    );
    return difference.trim();
  });
}

/** Runs `work` with a new database that has the schema of a service. */
async function withMigrated<Result>(
  create: (options: StoreOptions) => Promise<Database>,
  work: (database: Database) => Promise<Result>,
): Promise<Result> {
  const store = await createTestDatabase('schema');
  const database = await create({ url: store.url, poolSize: 1, log: silent });
  try {
    await database.migrate();
    return await work(database);
  } finally {
    await database.close();
    await store.drop();
  }
}

interface PlanNode {
  'Node Type': string;
  'Relation Name'?: string;
  'Index Name'?: string;
  'Index Cond'?: string;
  Plans?: PlanNode[];
}

/**
 * Returns the tables that a service's prepared statements would read as a whole, by statement name, if they were planned while the
 * store is empty, as in a new installation. Such plans last while the tables grow. Tables in `small` never grow and are ignored.
 */
export function scannedTables(
  create: (options: StoreOptions) => Promise<Database>,
  { statements, small }: { statements: readonly Statement[]; small: readonly string[] },
): Promise<Record<string, string[]>> {
  return withMigrated(create, async ({ pool }) => {
    const PARTIAL = 'select indexrelid::regclass::text as name from pg_index where indpred is not null';
    const partial = new Set((await pool.query<{ name: string }>(PARTIAL)).rows.map(({ name }) => name));
    const found: Record<string, string[]> = {};
    for (const { name, text } of statements) {
      const explain = `explain (generic_plan, format json) ${text}`;
      const { rows } = await pool.query<{ 'QUERY PLAN': [{ Plan: PlanNode }] }>(explain);
      const scanned = new Set(rows.flatMap((row) => scansIn(row['QUERY PLAN'][0].Plan, partial)));
      const large = [...scanned].filter((table) => !small.includes(table));
      if (large.length > 0) found[name] = large.toSorted();
    }
    return found;
  });
}

/** Returns the statements that modules export. */
export function statementsOf(...modules: object[]): Statement[] {
  return modules.flatMap((module) => Object.values(module)).filter(isStatement);
}

function isStatement(value: unknown): value is Statement {
  return typeof value === 'object' && value !== null && 'text' in value;
}

/** Reading a full (not partial) index to its end counts as reading the whole table, unless a limit ends the scan. */
function scansIn(node: PlanNode, partial: ReadonlySet<string>, isLimited = false): string[] {
  const { 'Node Type': type, 'Relation Name': table, Plans = [] } = node;
  const readsAll = /^Index (?:Only )?Scan$/.test(type) && !node['Index Cond'] && !partial.has(node['Index Name'] ?? '');
  const isWhole = type === 'Seq Scan' || (readsAll && !isLimited);
  const limitsBelow = type === 'Limit' || (isLimited && !/Aggregate|Sort|Hash/.test(type));
  return [...(isWhole && table ? [table] : []), ...Plans.flatMap((plan) => scansIn(plan, partial, limitsBelow))];
}

const literal = (value: unknown): string => {
  if (value == null) return 'null';
  return escapeLiteral(
    Array.isArray(value) ? `{${value.join(',')}}` : value instanceof Date ? value.toISOString() : String(value),
  );
};

/** The names of prepared statements by their texts. */
const names = new WeakMap<Client, Map<string, string>>();

async function prepared(client: Client, text: string): Promise<string> {
  const known = names.get(client) ?? new Map<string, string>();
  names.set(client, known);
  const name = known.get(text) ?? `looked_into_${known.size}`;
  if (known.has(text)) return name;
  await client.query(`set plan_cache_mode = force_generic_plan`);
  await client.query(`prepare ${name} as ${text}`);
  known.set(text, name);
  return name;
}

/**
 * Returns how many pages a statement touches with a generic plan, as on the service's connections. Parameters bound by the
 * protocol would give an EXPLAIN a custom plan, even with that setting.
 */
export async function pagesOf(client: Client, { text }: Statement, values: unknown[]): Promise<number> {
  const name = await prepared(client, text);
  const execute = `execute ${name} (${values.map(literal).join(', ')})`;
  const { rows } = await client.query(`explain (analyze, buffers, timing off, format json) ${execute}`);
  const { Plan } = rows[0]['QUERY PLAN'][0];
  return Plan['Shared Hit Blocks'] + Plan['Shared Read Blocks'];
}

/** SQL for the names of session timeouts that an operator can set in general; older servers have only some of them. */
export const SESSION_LIMITS = `select name from pg_catalog.pg_settings
  where name in ('idle_in_transaction_session_timeout', 'idle_session_timeout', 'transaction_timeout')`;
