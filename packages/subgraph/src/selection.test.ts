import { buildSchema, execute, parse, type GraphQLResolveInfo } from 'graphql';
import { selects, countSelections } from './selection.ts';

const schema = buildSchema(
  'type Query { page: Page } type Page { total: Int info: Info } type Info { next: Boolean more: Info }',
);
const PATHS = ['total', 'info', 'info next', 'info more', 'info more next'];

async function seenIn<Seen>(query: string, look: (info: GraphQLResolveInfo) => Seen): Promise<Seen | undefined> {
  let seen: Seen | undefined;
  const page = (_args: unknown, _context: unknown, info: GraphQLResolveInfo) => {
    seen = look(info);
    return null;
  };
  await execute({ schema, document: parse(query), rootValue: { page } });
  return seen;
}

it.each([
  ['{ page { total } }', ['total']],
  ['{ page { sum: total info { next } } }', ['total', 'info', 'info next']],
  ['{ page { ... { info { ... on Info { more { next } } } } } }', ['info', 'info more', 'info more next']],
  ['{ page { ...P } } fragment P on Page { info { ...I } } fragment I on Info { next }', ['info', 'info next']],
  ['{ page { total } page { info { next } } }', ['total', 'info', 'info next']],
  ['{ page { total @skip(if: true) info @include(if: true) { next @include(if: false) } } }', ['info']],
])('of %s sees %j', async (query, paths) => {
  const look = (info: GraphQLResolveInfo) => PATHS.filter((path) => selects(info, ...path.split(' ')));
  expect(await seenIn(query, look)).toEqual(paths);
});

it.each([
  ['{ page { total } }', 1],
  ['{ page { info { next more { next } } } }', 1],
  ['{ page { info { next } ...P } } fragment P on Page { info { next } }', 1],
  ['{ page { info { a: next b: next c: next @skip(if: true) ...I } } } fragment I on Info { b: next d: next }', 3],
  ['{ page { info { next a: next } again: info { next } } }', 3],
])('of %s sees the field that is selected the most %i times', async (query, times) => {
  expect(await seenIn(query, (info) => countSelections(info, 'info'))).toBe(times);
});

it('walks a fragment once, however often it is spread', async () => {
  const levels = Array.from({ length: 60 }, (_, at) => `fragment F${at} on Info { ...F${at + 1} ...F${at + 1} }`);
  const query = `{ page { info { ...F0 } } } ${levels.join(' ')} fragment F60 on Info { next a: next }`;
  expect(await seenIn(query, (info) => countSelections(info, 'info'))).toBe(2);
});
