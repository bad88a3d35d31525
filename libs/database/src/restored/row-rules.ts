import type { Session } from '../session.ts';
import type { Statement } from '../statement.ts';
import type { Columns, RestoredSchema } from './restored-tables.ts';

/** What every row must keep to, and SQL that is true for a row `r` that breaks it. */
export interface RowRule {
  sentence: string;
  broken: string;
}

/** Which of the needed columns the table is without, as a sentence; undefined when all are there. */
export function missingColumns(table: string, needed: string[], columns: Columns): string | undefined {
  if (columns.size === 0) return `There is no table ${table}.`;
  const missing = needed.filter((name) => !columns.has(name));
  return missing.length > 0 ? `The table ${table} is without ${missing.join(', ')}.` : undefined;
}

/** Which rules the rows break, and how often, as a sentence; `values` are the parameters of the rules' SQL. */
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

/** One look at every row for all rules: the columns `broken_0`, `broken_1` … count who breaks which. */
function countBroken(table: string, rules: RowRule[]): Statement {
  const counts = rules.map(({ broken }, index) => `count(*) filter (where ${broken})::text as broken_${index}`);
  return { name: `count-broken-${table}`, text: `select ${counts.join(', ')} from ${table} r` };
}
