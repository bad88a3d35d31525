import type { Database, Statement } from '@taskmesh/store';

/** How many rows the statement, which counts them, has written. */
export async function countOf(
  database: Pick<Database, 'run'>,
  statement: Statement,
  values: unknown[],
): Promise<number> {
  const [row] = await database.run<{ count: number }>('write', statement, values);
  return row?.count ?? 0;
}

/** Of a statement that always gives a row. */
export function present<Row>(row: Row | undefined, otherwise = 'The statement gave no row.'): Row {
  if (row === undefined) throw new Error(otherwise);
  return row;
}
