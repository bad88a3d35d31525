import type { Session, Statement } from '../database/index.ts';
import { isBlank } from '@taskmesh/contracts';
import { STORE, valueOf, type Columns, type RestoredSchema } from './restored-tables.ts';
import type { RowRule, StoreRules } from './store-rules.ts';

/** Far below the type's maximum, to leave room for further versions. */
export const LARGEST_VERSION = 2_000_000_000;

/** Returns SQL. */
export const usableVersion = (value: string): string =>
  `case when ${value} between 1 and ${LARGEST_VERSION} then ${value} else 1 end`;

/** A sentence that names the missing columns; undefined when all are present. */
export function missingColumns(table: string, needed: readonly string[], columns: Columns): string | undefined {
  if (columns.size === 0) return `There is no table ${table}.`;
  const missing = needed.filter((name) => !columns.has(name));
  return missing.length > 0 ? `The table ${table} is without ${missing.join(', ')}.` : undefined;
}

/** A sentence that says why the store cannot accept the rows of its table; undefined when it can. */
export async function refusedRows(
  session: Session,
  schema: RestoredSchema,
  { rules, columns }: { rules: StoreRules; columns: Columns },
): Promise<string | undefined> {
  const { table, rulesFor, values, check } = rules;
  const all = [...columnRules(rules.columns, schema, columns), ...rulesFor(columns)];
  return (await brokenRules(session, { schema, table }, all, values)) ?? (await check?.(session, schema, columns));
}

function columnRules(declared: StoreRules['columns'], schema: RestoredSchema, columns: Columns): RowRule[] {
  const present = Object.entries(declared).filter(([name]) => columns.has(name));
  return present.flatMap(([name, { type, isNullable, isVersion }]) => {
    const value = valueOf(columns, name, type);
    const range = `between 1 and ${LARGEST_VERSION}`;
    if (isVersion)
      return schema === STORE ? [{ sentence: `${name} is ${range}`, broken: `${value} not ${range}` }] : [];
    const ofItsType = isNullable
      ? {
          sentence: `${name} must be of the type ${type}, or null`,
          broken: `(r.${name} is not null and ${value} is null)`,
        }
      : { sentence: `${name} is needed and must be of the type ${type}`, broken: `${value} is null` };
    return type === 'timestamptz(3)' ? [ofItsType, inOurYears(name, value)] : [ofItsType];
  });
}

/** Years that JSON and JavaScript can express: neither infinite nor beyond. */
export const inOurYears = (name: string, value: string): RowRule => ({
  sentence: `${name} is in the years 0001 to 9999`,
  broken: `(${value} < '0001-01-01T00:00Z' or ${value} >= '10000-01-01T00:00Z')`,
});

/** A sentence that says which rules are broken, and by how many rows. `values` are the parameters of the rules' SQL. */
export async function brokenRules(
  session: Session,
  { schema, table }: { schema: RestoredSchema; table: string },
  rules: RowRule[],
  values: unknown[],
): Promise<string | undefined> {
  const [counts] = await session.run<Record<string, string>>(countBroken(`${schema}.${table}`, rules), values);
  const broken = rules.flatMap(({ sentence }, index) => {
    const count = Number(counts?.[`broken_${index}`]);
    return count > 0 ? [`${sentence} (not so in ${count})`] : [];
  });
  return broken.length > 0 ? `Rows of the table ${table} break the rules: ${broken.join('; ')}.` : undefined;
}

/** Checks all rules in one pass: the columns `broken_0`, `broken_1` … count the rows that break each. */
function countBroken(table: string, rules: RowRule[]): Statement {
  const counts = rules.map(({ broken }, index) => `count(*) filter (where ${broken})::text as broken_${index}`);
  return { name: `count-broken-${table}`, text: `select ${counts.join(', ')} from ${table} r` };
}

const LAST_OF_THE_BASIC_PLANE = 0xffff;

export function charactersThat(is: (character: string) => boolean): string {
  return Array.from({ length: LAST_OF_THE_BASIC_PLANE }, (_, code) => String.fromCharCode(code + 1))
    .filter((character) => character.isWellFormed() && is(character))
    .join('');
}

/** All characters that a blank text may consist of; none is beyond the basic plane. */
export const BLANKS = charactersThat(isBlank);
