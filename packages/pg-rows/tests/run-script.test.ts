import { runDump } from './plan-dump.ts';

const TABLE = 'create table t (a text);\n';

const received = async (dump: string) => (await runDump(dump)).queries.slice(2).map(({ text }) => text);
const insert = (text: string | number) => `insert into t values ('${text}');\n`;
const count = (query: string) => query.split('insert into').length - 1;

it('runs the INSERT statements of a dump in batches of hundreds, and everything in the order of the dump', async () => {
  const rows = Array.from({ length: 1_200 }, (_, index) => insert(index)).join('');
  const others = `create table u (a text);\n${insert('x')}copy t from stdin;\n\\.\n${insert('y')}`;
  const queries = await received(TABLE + rows + others);
  const order = ['create table', 500, 500, 200, 'create table', 1, 'copy "restor', 1, 'commit'];
  expect(queries.map((query) => count(query) || query.slice(0, 12))).toEqual(order);
});

it('sends long statements in smaller batches', async () => {
  const queries = await received(`${TABLE}${insert('x'.repeat(100_000)).repeat(5)}`);
  expect(queries.map(count)).toEqual([0, 3, 2, 0]);
});
