import { execute, parse, buildSchema } from 'graphql';
import { selectedFields } from './selection.ts';

const schema = buildSchema(
  'type Query { page: Page } type Page { total: Int info: Info } type Info { next: Boolean more: Info }',
);

async function selectedBy(query: string): Promise<string[][]> {
  const seen: string[][] = [];
  const document = parse(query);
  const page = (_args: unknown, _context: unknown, info: Parameters<typeof selectedFields>[0]) => {
    seen.push([...selectedFields(info)].toSorted());
    return null;
  };
  for (let times = 0; times < 2; times++) await execute({ schema, document, rootValue: { page } });
  return seen;
}

it.each([
  ['{ page { total } }', ['total']],
  ['{ page { sum: total info { next } } }', ['info', 'info.next', 'total']],
  ['{ page { ... { info { ... on Info { more { next } } } } } }', ['info', 'info.more']],
  ['{ page { ...P } } fragment P on Page { info { ...I } } fragment I on Info { next }', ['info', 'info.next']],
  ['{ page { total } page { info { next } } }', ['info', 'info.next', 'total']],
  ['{ page { total @skip(if: true) info { next } } }', ['info', 'info.next', 'total']],
])('of %s sees %j, the second time as the first', async (query, fields) => {
  expect(await selectedBy(query)).toEqual([fields, fields]);
});
