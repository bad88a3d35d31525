import { DatabaseError } from 'pg';

/** Error classes whose messages name only objects; all others may quote values of a row or a statement. */
const NAMES_ONLY = /^(08|0A|25|26|28|3D|40|42(?!601)|53|54|55|57|58|XX)/;
/** The context of a COPY ends with the value or the whole line. */
const COPY_CONTEXT = /^COPY (?<table>.+?), line (?<row>\d+)(, column (?<column>.+?):)?/;
const REFUSED_OBJECTS: Record<string, string> = { 22: 'a value', 23: 'a row' };

/** Reduces a PostgreSQL error to its code and object names, without a row's values. Other errors stay unchanged. */
export function withoutValues(error: unknown): unknown {
  if (!(error instanceof DatabaseError)) return error;
  const { code = '', routine, constraint, where = '' } = error;
  const copied = COPY_CONTEXT.exec(where)?.groups;
  const { table = copied?.table, column = copied?.column } = error;
  const locations = Object.entries({ table, row: copied?.row, column, constraint }).filter(
    ([, name]) => name !== undefined,
  );
  const at = [code, ...locations.map((location) => location.join(' '))].join(', ');
  const message = NAMES_ONLY.test(code)
    ? error.message
    : `PostgreSQL refuses ${REFUSED_OBJECTS[code.slice(0, 2)] ?? 'a statement'} (${at})`;
  return Object.assign(new Error(message), { code, routine, table, column, constraint });
}
