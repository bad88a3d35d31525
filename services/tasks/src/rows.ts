import type { Database, Statement } from '@taskmesh/store';

/** Runs a statement that returns the number of rows it has written. */
export async function countOf(
  database: Pick<Database, 'run'>,
  statement: Statement,
  values: unknown[],
): Promise<number> {
  const [row] = await database.run<{ count: number }>('write', statement, values);
  return row?.count ?? 0;
}

/** Returns the row of a statement that always returns one. */
export function present<Row>(row: Row | undefined, message = 'The statement returned no row.'): Row {
  if (row === undefined) throw new Error(message);
  return row;
}
