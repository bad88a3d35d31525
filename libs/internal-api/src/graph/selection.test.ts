import { buildSchema, execute, parse } from 'graphql';
import { selects } from './selection.ts';

const schema = buildSchema(
  'type Query { page: Page } type Page { total: Int info: Info } type Info { next: Boolean more: Info }',
);
const PATHS = ['total', 'info', 'info next', 'info more', 'info more next'];

async function selectedBy(query: string): Promise<string[]> {
  let selected: string[] = [];
  const page = (_args: unknown, _context: unknown, info: Parameters<typeof selects>[0]) => {
    selected = PATHS.filter((path) => selects(info, ...path.split(' ')));
    return null;
  };
  await execute({ schema, document: parse(query), rootValue: { page } });
  return selected;
}

it.each([
  ['{ page { total } }', ['total']],
  ['{ page { sum: total info { next } } }', ['total', 'info', 'info next']],
  ['{ page { ... { info { ... on Info { more { next } } } } } }', ['info', 'info more', 'info more next']],
  ['{ page { ...P } } fragment P on Page { info { ...I } } fragment I on Info { next }', ['info', 'info next']],
  ['{ page { total } page { info { next } } }', ['total', 'info', 'info next']],
  ['{ page { total @skip(if: true) info @include(if: true) { next @include(if: false) } } }', ['info']],
])('of %s sees %j', async (query, paths) => {
  expect(await selectedBy(query)).toEqual(paths);
});
