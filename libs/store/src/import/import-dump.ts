import { isUniqueViolation, type Session, type Statement } from '../database/index.ts';
import type { ImportedRows } from './import-archive.ts';
import { columnsOf, lostColumns, RESTORED, valueOf, type Columns } from './restored-tables.ts';
import { missingColumns, refusedRows, usableVersion } from './row-rules.ts';
import type { StoreDatabase, StoreRules } from './store-rules.ts';

interface DumpImport {
  /** Connected to the restored database. */
  session: Session;
  store: StoreDatabase;
  rules: StoreRules;
}

/** Imports one table of an untrusted dump, after checking its rows. */
export async function importDump({ session, store, rules }: DumpImport): Promise<ImportedRows> {
  const { table, columns, needed, tables, duplicates } = rules;
  const given = await columnsOf(session, table);
  const reason =
    missingColumns(table, needed, given) ?? (await refusedRows(session, RESTORED, { rules, columns: given }));
  if (reason !== undefined) return { reason };
  await store.migrate();
  const kept = { [table]: Object.keys(columns) };
  const dropped = await lostColumns(session, kept, Object.keys(tables));
  try {
    const [row] = await session.run<{ count: string }>(copyInto(rules, given));
    return { rows: { [table]: Number(row?.count) }, dropped };
  } catch (error) {
    if (!isUniqueViolation(error)) throw error;
    return { reason: duplicates };
  }
}

function copyInto({ table, columns }: StoreRules, given: Columns): Statement {
  const copied = Object.entries(columns).filter(([name]) => given.has(name));
  const values = copied.map(([name, { type, isVersion }]) => {
    const value = valueOf(given, name, type);
    return isVersion ? usableVersion(value) : value;
  });
  return {
    name: `import-copy-${table}`,
    text: `
      with copied as (
        insert into public.${table} (${copied.map(([name]) => name).join(', ')})
        select ${values.join(', ')} from ${RESTORED}.${table} r
        returning 1
      )
      select count(*)::text as count from copied`,
  };
}
