import {
  bearer,
  JSON_TYPE,
  NO_USER,
  outcomeOf,
  TASK_FIELDS,
  times,
  type Account,
  type Case,
  type Kind,
} from './case.ts';

type Query = (turn: number, account: Account) => string;
interface Options {
  by?: Case['by'];
  kind?: Kind;
  outcome?: string;
  variables?: (turn: number, account: Account) => unknown;
  operationName?: string;
}

/** A document sent over POST. */
function document(name: string, query: Query, options: Options = {}): Case {
  const { by = 'stranger', kind = 'document', outcome = '200', variables, operationName } = options;
  return {
    ...{ kind, name, by, outcome },
    send: async (product, account, turn) =>
      outcomeOf(
        await product.send('/graphql', {
          method: 'POST',
          headers: { ...JSON_TYPE, ...bearer(by, account) },
          body: JSON.stringify({ query: query(turn, account), variables: variables?.(turn, account), operationName }),
        }),
      ),
  };
}

/** Documents with the same outcome, by name. */
const documentsOf = (by: Case['by'], outcome: string, queries: Record<string, Query>): Case[] =>
  Object.entries(queries).map(([name, query]) => document(name, query, { by, outcome }));

const INVALID = '200 GRAPHQL_VALIDATION_FAILED';
const UNPARSABLE = '200 GRAPHQL_PARSE_FAILED';
const LONG = 127_000;

const taskWith = (literal: string) => `{ task(id: ${literal}) { id } }`;
const INTROSPECTION = `{ queryType { name } types { kind name description
  fields(includeDeprecated: true) { name description args { name type { ...R } } type { ...R } }
  inputFields { name type { ...R } } enumValues { name } possibleTypes { ...R } } directives { name args { name } } }`;
const REFERENCE = 'fragment R on __Type { kind name ofType { kind name ofType { kind name ofType { kind name } } } }';

const queries: readonly Case[] = [
  ...documentsOf('stranger', NO_USER, {
    'a literal of 127,000 characters': (turn) => taskWith(`"${turn}${'x'.repeat(LONG)}"`),
    'a literal that begins as a mark of ours': (turn) => taskWith(`"literal ${turn}${' '.repeat(LONG)}"`),
    'a literal of escapes': (turn) => taskWith(`"${turn}${'\\u0041'.repeat(LONG / 6)}"`),
    'a block string of 10,000 lines': (turn) => taskWith(`"""${turn}${' \n'.repeat(9_900)}x"""`),
    'an integer of 127,000 digits': (turn) => taskWith(`1${turn}${'7'.repeat(LONG)}`),
    '1,900 fields of 30 aliases': (turn) =>
      `{ ${times(29, (at) => `a${turn}_${at}: task(id: "${at}") { ${times(60, (of) => TASK_FIELDS[of % 9] ?? '')} }`)} }`,
    '30 aliases that ask both services in turn': (turn) => {
      const nested = 'owner { name tasks(first: 1) { edges { node { '.repeat(2);
      return `{ ${times(30, (at) => `a${turn}_${at}: task(id: "${at}") { ${nested} id owner { name } ${'} } } }'.repeat(2)} }`)} }`;
    },
    '2,000 fields of spread fragments': (turn) => `{ a${turn}: task(id: "1") { ${'...A '.repeat(30)} } }
      fragment A on Task { ${'...B '.repeat(10)} } fragment B on Task { owner { tasks { totalCount } ${'...C '.repeat(3)} } }
      fragment C on User { id }`,
    'overlapping fields': (turn) =>
      `{ a${turn}: task(id: "1") { ${times(20, (at) => `owner { tasks(first: 1) { totalCount edges { cursor node { ${TASK_FIELDS.slice(at % 8).join(' ')} } } } }`)} } }`,
    'overlapping inline fragments': (turn) =>
      `{ a${turn}: task(id: "1") { ${times(60, () => `... @include(if: true) { owner @skip(if: false) { id ... { name email } } }`)} } }`,
    '400 conditions': (turn) =>
      `query($v: Boolean! = true) { ${times(29, (at) => `a${turn}_${at}: task(id: "1") { ${times(14, (of) => `${TASK_FIELDS[of % 9]} @include(if: $v)`)} }`)} }`,
    'variants of a document': (turn) =>
      `query(${times(12, (at) => `$v${at}: Boolean! = ${(turn >> at) % 2 === 0}`)}) { ${times(12, (at) => `a${at}: task(id: "1") @include(if: $v${at}) { ${TASK_FIELDS.join(' ')} owner { name taskStatistics { total } } }`)} __typename }`,
    'mutations of 30 aliases': (turn) =>
      `mutation { ${times(30, (at) => `m${at}: createTask(input: { title: "task ${turn}" }) { ${TASK_FIELDS.join(' ')} }`)} }`,
  }),
  ...documentsOf('stranger', '200', {
    blanks: (turn) => `${' '.repeat(LONG)}{ a${turn}: __typename }`,
    'comments on 10,000 lines': (turn) => `${'#,,,,,,,,,\n'.repeat(9_999)}{ a${turn}: __typename }`,
    '1,900 fields': (turn) => `{ ${times(1_900, () => '__typename')} a${turn}: __typename }`,
    'introspection, as tools send it': (turn) => `{ a${turn}: __schema ${INTROSPECTION} } ${REFERENCE}`,
    'introspection at the limit of cost': (turn) =>
      `{ ${times(2, (at) => `a${turn}_${at}: __schema { types { fields { name args { name type { ...R } } type { ...R } } } }`)} } ${REFERENCE}`,
    'introspection at the limit of depth': (turn) =>
      `{ a${turn}: __type(name: "Task") { fields { type ${'{ ofType '.repeat(9)} { name } ${'}'.repeat(9)} } } }`,
  }),
  ...documentsOf('stranger', INVALID, {
    'errors behind 10,000 lines': (turn) => `${'\n'.repeat(9_990)}{ ${times(1_900, (at) => `x${turn}_${at}`)} }`,
    'selections in selections': (turn) => `${'{a'.repeat(1_300)}${turn}${'}'.repeat(1_300)}`,
    '140 fragments that spread each other': (turn) =>
      `{ a${turn}: task(id: "1") { ...F0 } } ${times(139, (at) => `fragment F${at} on Task { ${times(8, (of) => (at + of < 139 ? `...F${at + of + 1}` : 'id'))} }`)} fragment F139 on Task { id }`,
    '570 directives at a field': (turn) => `{ a${turn}: __typename ${'@include(if: true) '.repeat(570)} }`,
    '660 variables': (turn) => `query(${times(660, (at) => `$v${turn}_${at}: String`)}) { __typename }`,
    'everything unknown': (turn) => `{ ${times(600, (at) => `tsks${turn}_${at}(i: 1)`)} }`,
  }),
  ...documentsOf('stranger', UNPARSABLE, {
    'lists in lists': (turn) => taskWith(`${'['.repeat(1_900)}${turn}${']'.repeat(1_900)}`),
    'a document that cannot be parsed': () => `{ a(b: "${'x'.repeat(LONG)}`,
  }),
  document(
    '790 operations',
    (turn) => `${times(790, (at) => `query Q${at} { __typename }`)} query Z { a${turn}: __typename }`,
    { operationName: 'Z' },
  ),
  ...documentsOf('stranger', NO_USER, {
    'a login': (turn) =>
      `mutation { login(input: { email: "l${turn}@limits.example", password: "not the right one" }) { user { id } } }`,
  }),
  ...documentsOf('account', '200', {
    'two pages of 1,000 tasks': (turn) =>
      `{ ${times(2, (at) => `a${turn}_${at}: tasks(first: 1000) { edges { cursor node { ${TASK_FIELDS.join(' ')} } } }`)} }`,
    'tasks of owners of tasks': (turn) =>
      `{ a${turn}: tasks(first: 30) { edges { node { owner { tasks(first: 25) { edges { node { ${TASK_FIELDS.join(' ')} owner { name } } } } } } } } }`,
    'statistics of owners': (turn) =>
      `{ a${turn}: tasks(first: 1000) { edges { node { owner { taskStatistics { total } } } } } }`,
    '30 counts': (turn) =>
      `{ ${times(30, (at) => `a${at}: tasks(filter: { category: "c${turn}_${at}" }) { totalCount }`)} }`,
    'the audit trail': (turn) =>
      `{ ${times(4, (at) => `a${turn}_${at}: auditEntries(first: 1000) { id at kind sessionId ip }`)} }`,
  }),
  ...documentsOf('account', '200 NOT_FOUND', {
    '30 updates': (turn) =>
      `mutation { ${times(30, (at) => `m${at}: updateTask(id: "00000000-0000-4000-8000-000000000000", input: { title: "task ${turn}" }) { ${TASK_FIELDS.join(' ')} }`)} }`,
  }),
];

const CREATE = 'mutation($input: CreateTaskInput!) { createTask(input: $input) { id } }';
const LIST = 'query($filter: TaskFilter) { tasks(filter: $filter) { totalCount } }';
const nested = (levels: number): unknown => (levels === 0 ? 1 : [nested(levels - 1)]);

const variables: readonly Case[] = [
  ...(['stranger', 'account'] as const).flatMap(
    (by) =>
      [
        document('4,900 unknown fields of an input', () => CREATE, {
          ...{ by, kind: 'variables', outcome: '200 BAD_USER_INPUT' },
          variables: (turn) => ({
            input: Object.fromEntries(Array.from({ length: 4_900 }, (_, at) => [`x${turn}_${at}`, 1])),
          }),
        }),
        document('a text of 1 MB', () => CREATE, {
          ...{ by, kind: 'variables', outcome: by === 'account' ? '200 BAD_USER_INPUT' : NO_USER },
          variables: (turn) => ({ input: { title: `${turn}${'😀'.repeat(250_000)}` } }),
        }),
        document('a category of 1 MB', () => LIST, {
          ...{ by, kind: 'variables', outcome: by === 'account' ? '200 BAD_USER_INPUT' : NO_USER },
          variables: (turn) => ({ filter: { category: `${turn}${'x'.repeat(1_000_000)}` } }),
        }),
        document('lists where none belongs', () => LIST, {
          ...{ by, kind: 'variables', outcome: '200 BAD_USER_INPUT' },
          variables: () => ({ filter: nested(27) }),
        }),
      ] satisfies Case[],
  ),
  document('4,900 variables that do not exist', () => '{ __typename }', {
    kind: 'variables',
    variables: (turn) =>
      Object.fromEntries(Array.from({ length: 4_900 }, (_, at) => [`v${turn}_${at}`, 'x'.repeat(100)])),
  }),
];

/** All cases over POST. */
export const documents = [...queries, ...variables];
