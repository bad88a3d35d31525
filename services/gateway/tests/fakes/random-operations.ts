import fc from 'fast-check';

/** One operation with a value wherever one is allowed: as a literal, as a variable, or absent. */
export interface RandomOperation {
  source: string;
  variables: Record<string, unknown>;
}

interface Part {
  text: string;
  definitions: string[];
  variables: Record<string, unknown>;
}

/** Values for a place of each type: as GraphQL text, and as the same value in JSON. */
const VALUES: Record<string, [text: string, value: unknown][]> = {
  String: [
    ['"x"', 'x'],
    ['""', ''],
    ['"ä\\u2028\\uD83D\\uDE00"', 'ä\u2028😀'],
  ],
  DateTime: [
    ['"2026-11-20T10:00:00Z"', '2026-11-20T10:00:00Z'],
    ['1', 1],
  ],
  Boolean: [
    ['true', true],
    ['false', false],
  ],
  Int: [
    ['1', 1],
    ['0', 0],
  ],
  TaskPriority: [['HIGH', 'HIGH']],
  TaskFilter: [
    ['{ completed: false, category: null }', { completed: false, category: null }],
    ['{}', {}],
  ],
  UpdateTaskInput: [
    ['{ title: "x", description: null }', { title: 'x', description: null }],
    ['{ completed: true }', { completed: true }],
  ],
  CreateTaskInput: [
    ['{ title: "x", category: null }', { title: 'x', category: null }],
    ['{ title: "x" }', { title: 'x' }],
  ],
};

const NONE: Part = { text: '', definitions: [], variables: {} };

/** Names that every object inherits. */
const ODD_NAMES: Record<string, string> = {
  category: 'constructor',
  first: 'toString',
  description: 'hasOwnProperty',
  offset: '__proto__',
};

/** `name: value` or nothing; an exclamation mark in `type` makes it required. */
function argument(name: string, type: string): fc.Arbitrary<Part> {
  const isRequired = type.endsWith('!');
  const bare = type.replace('!', '');
  const values = VALUES[bare] ?? [];
  const given = fc.constantFrom(...values);
  const literal = given.map(([text]) => ({ ...NONE, text: `${name}: ${text}` }));
  const initial = isRequired
    ? fc.constant('')
    : fc.constantFrom('', ' = null', ...values.map(([text]) => ` = ${text}`));
  const variable = fc
    .tuple(
      fc.constantFrom(`v_${name}`, ODD_NAMES[name] ?? `v_${name}`),
      initial,
      fc.option(fc.oneof(given, isRequired ? given : fc.constant(['', null])), { nil: undefined }),
    )
    .filter(([, , value]) => !isRequired || value !== undefined)
    .map(([variable, text, value]) => ({
      text: `${name}: $${variable}`,
      definitions: [`$${variable}: ${type}${text}`],
      variables: value === undefined ? {} : { [variable]: value[1] },
    }));
  if (isRequired) return fc.oneof(literal, variable);
  return fc.oneof(fc.constant(NONE), fc.constant({ ...NONE, text: `${name}: null` }), literal, variable, variable);
}

function together(parts: fc.Arbitrary<Part>[], join: (texts: string[]) => string): fc.Arbitrary<Part> {
  return fc.tuple(...parts).map((all) => ({
    text: join(all.map(({ text }) => text).filter((text) => text !== '')),
    definitions: all.flatMap(({ definitions }) => definitions),
    variables: Object.fromEntries(all.flatMap(({ variables }) => Object.entries(variables))),
  }));
}

/** `head(arguments) rest`. */
const field = (head: string, rest: string, ...args: fc.Arbitrary<Part>[]) =>
  together(args, (texts) => `${head}${texts.length > 0 ? `(${texts.join(', ')})` : ''} ${rest}`);

const text = (name: string) => argument(name, 'String');
const change = fc.oneof(
  argument('input', 'UpdateTaskInput!'),
  together(
    [
      text('title'),
      text('description'),
      argument('dueDate', 'DateTime'),
      text('category'),
      argument('priority', 'TaskPriority'),
    ],
    (texts) => `input: { ${texts.join(', ')} }`,
  ),
);
const page = [argument('filter', 'TaskFilter'), argument('first', 'Int'), argument('offset', 'Int'), text('after')];
const pageInParts = [
  together([argument('completed', 'Boolean'), text('category')], (texts) => `filter: { ${texts.join(', ')} }`),
  argument('first', 'Int'),
];

const mutation = fc.oneof(
  field(
    'updateTask',
    '{ id description }',
    fc.constant({ ...NONE, text: 'id: "1"' }),
    change,
    argument('ifVersion', 'Int'),
  ),
  field('updateTask', '{ id owner { name } }', fc.constant({ ...NONE, text: 'id: "1"' }), change),
  field('createTask', '{ id }', argument('input', 'CreateTaskInput!'), text('idempotencyKey')),
);
const query = fc.oneof(
  field('tasks', '{ totalCount edges { node { id dueDate } } }', ...page),
  field('tasks', '{ edges { node { id owner { id name } } } }', ...pageInParts),
  field('me { name tasks', '{ totalCount } taskStatistics { total completionPercentage } }', ...page),
  field('me { tasks', '{ edges { node { id owner { email } } } } }', ...pageInParts),
);

const operationOf = (kind: string, root: fc.Arbitrary<Part>) =>
  root.map(({ text: selection, definitions, variables }): RandomOperation => {
    const head = definitions.length > 0 ? `(${definitions.join(', ')})` : '';
    return { source: `${kind} Random${head} { ${selection} }`, variables };
  });

export const randomOperation = fc.oneof(operationOf('mutation', mutation), operationOf('query', query));
