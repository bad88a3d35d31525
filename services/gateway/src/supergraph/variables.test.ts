import { buildSchema, getOperationAST, parse } from 'graphql';
import { createParts } from './operation.ts';
import { coerceVariables } from './variables.ts';

const schema = buildSchema(`
  type Query { task(id: ID, input: Input, kind: Kind, many: Many): ID }
  input Input { title: String! }
  enum Kind { ONE }
  enum Many { ${Array.from({ length: 21 }, (_, index) => `V${index}`).join(' ')} }
`);

/** What is said of these variables, and how often all keys of a large object were asked for meanwhile. */
function refusalOf(type: string, given: (large: object) => object) {
  const source = `query ($v: ${type}) { task(${{ ID: 'id', Input: 'input', Kind: 'kind', Many: 'many' }[type]}: $v) }`;
  const document = parse(source);
  const operation = getOperationAST(document);
  if (!operation) throw new Error('no operation');
  let looks = 0;
  const large = new Proxy({ a: 1, b: 2 }, { ownKeys: (target) => (looks++, Reflect.ownKeys(target)) });
  try {
    const prepared = { source, schema, document, operation, operationName: undefined, partOf: createParts() };
    coerceVariables(prepared, { v: given(large) });
  } catch (error) {
    return [(error as Error).message, looks];
  }
  return [undefined, looks];
}

describe('a large object where none belongs', () => {
  it.each([
    ['ID', (large: object) => large, 'v must be of type ID.'],
    ['Kind', (large: object) => large, 'v must be one of ONE.'],
    ['Many', (large: object) => large, 'v must be of type Many.'],
    ['Input', (large: object) => ({ title: large }), 'v.title must be of type String.'],
    ['Input', (large: object) => ({ title: 'x', more: large }), 'v.more is not a field of Input.'],
  ])('is refused without a look into it: %s', (type, given, message) => {
    expect(refusalOf(type, given)).toEqual([message, 0]);
  });

  it('is looked at once for the names of its fields', () => {
    const [message, looks] = refusalOf('Input', (large) => large);
    expect(message).toBe('v.title is required. v.a is not a field of Input. v.b is not a field of Input.');
    expect(looks).toBe(1);
  });
});
