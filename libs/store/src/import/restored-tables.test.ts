import { createTestDatabase } from '@taskmesh/testing';
import { openSession } from '../database/session.ts';
import { isValueSql, PROVIDE_IS_VALUE } from './restored-tables.ts';

const database = await createTestDatabase('is_value');
const settings = { search_path: 'pg_catalog,pg_temp' };
const session = await openSession({ url: database.url, name: 'is-value', settings, timeoutMs: 5_000 });
await session.run(PROVIDE_IS_VALUE);
afterAll(() => session.close());

const VALUES: [type: string, right: string[], wrong: string[]][] = [
  ['uuid', ['00000000-0000-0000-0000-000000000000', '{0199E1C25B7A7CC398C4DC0C0C07398F}'], ['', 'x', '0199e1c2']],
  ['boolean', ['true', 'off', ' Y '], ['', '2', `'`, 'maybe']],
  ['integer', ['0', '-7', ' 42 ', '2147483647'], ['', '1.5', '2147483648', '1; drop table t']],
  ['timestamptz(3)', ['2026-01-02', '0001-01-01T00:00Z', 'infinity'], ['', '2026-02-30', '300000-01-01', 'soon?']],
];

it.each(VALUES)('recognises the valid values of the type %s', async (type, right, wrong) => {
  const judge = `select t, ${isValueSql('t', type)} as is from unnest($1::text[]) t`;
  expect(await session.run(judge, [[...right, ...wrong, null]])).toEqual([
    ...right.map((t) => ({ t, is: true })),
    ...wrong.map((t) => ({ t, is: false })),
    { t: null, is: null },
  ]);
});
