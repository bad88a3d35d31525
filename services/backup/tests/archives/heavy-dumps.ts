const MEBIBYTE = 1024 * 1024;
const TABLE = 'create table t (a int, b text, c text);\n';
const row = `(1, 'abc', null)`;

/** Dumps that would take much memory from a careless reader. */
export const HEAVY_DUMPS: [what: string, dump: () => string][] = [
  ['a tiny dump', () => `${TABLE}insert into t values ${row};`],
  ['one INSERT of very many rows', () => `${TABLE}insert into t values ${Array(100_000).fill(row).join(',')};`],
  ['very many INSERT statements', () => TABLE + `insert into t values ${row};\n`.repeat(20_000)],
  ['statements of many constants', () => TABLE + `insert into t values (${'1,'.repeat(30_000)}1);`],
  [
    'statements with long texts',
    () => TABLE + `insert into t (b) values ('${'x'.repeat(1.9 * MEBIBYTE)}');\n`.repeat(20),
  ],
  ['statements with many operators', () => TABLE + `select 1${'+1'.repeat(30_000)};`],
  ['deep nesting', () => `${TABLE}select ${'('.repeat(60_000)}1`],
  ['many columns', () => `create table t (${Array.from({ length: 1_500 }, (_, n) => `a${n} int`).join(',')});`],
  [
    'many tables',
    () => Array.from({ length: 900 }, (_, n) => `create table t${n} (a int, b text default 'x');`).join('\n'),
  ],
  ['much COPY data', () => `${TABLE}copy t from stdin;\n${`1\t${'x'.repeat(90)}\ty\n`.repeat(1_000_000)}\\.\n`],
  ['a line of COPY data without an end', () => `${TABLE}copy t from stdin;\n${'x'.repeat(72 * MEBIBYTE)}`],
  ['a statement without an end', () => TABLE + 'a '.repeat(36 * MEBIBYTE)],
  ['a comment without an end', () => `${TABLE}-- ${'a '.repeat(36 * MEBIBYTE)}`],
];
