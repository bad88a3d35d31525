import { coerceVariables, InvalidOperation } from '@taskmesh/federation';
import { GraphQLError } from 'graphql';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { documentsOfClients } from '../../tests/fakes/executor.ts';

const { admit } = documentsOfClients();

function costOf(source: string, variables: Record<string, unknown> = {}): number {
  const operation = admit(source);
  return operation.cost(coerceVariables(operation, variables));
}

/** The rows of the cost table in docs/limits.md. */
const examples = readFileSync(join(import.meta.dirname, '../../../../docs/limits.md'), 'utf8')
  .split('\n')
  .flatMap((line) => {
    const [, source, variables, cost] = /^\| `(.*)` \| (?:`(.*)`)? ?\| ([\d,]+) \|$/.exec(line) ?? [];
    return source && /[{]/.test(source) ? [{ source, variables: variables ?? '{}', cost: Number(cost) }] : [];
  });

describe('the cost of an operation', () => {
  it('has examples in the documentation', () => expect(examples.length).toBeGreaterThan(8));

  it.each(examples)('$source with $variables is $cost', ({ source, variables, cost }) => {
    expect(costOf(source, JSON.parse(variables) as Record<string, unknown>)).toBe(cost);
  });
});

const LOGIN = 'login(input: { email: "x", password: "x" }) { expiresIn }';
const SIGN_IN = 'signInWithCode(input: { code: "x", verifier: "x", password: "x" }) { expiresIn }';
const LINK = 'linkIdentity(input: { code: "x", verifier: "x", password: "x" }) { id }';
const ONE_PASSWORD = new GraphQLError(
  'An operation may have one mutation that proves or replaces a password, an address or a token.',
);

describe('the rules for a document', () => {
  it.each([
    [LOGIN, `b: ${LOGIN}`],
    [LOGIN, 'requestPasswordReset(email: "x")'],
    [SIGN_IN, LINK],
  ])('allow one password: %s', (one, other) => {
    expect(admit(`mutation { ${one} }`).operation.operation).toBe('mutation');
    expect(() => admit(`mutation { ${one} ${other} }`)).toThrow(new InvalidOperation('', [ONE_PASSWORD]));
  });

  it.each([
    ['{ tasks { edges { node { title } } } }', false],
    ['{ tasks(first: 1000) { edges { node { title } } } }', true],
    [`{ tasks(first: 1) { edges { node { ${'... { title } '.repeat(100)} } } } }`, true],
    ['{ __schema { description } }', true],
  ])('know whether %s is large', (source, isLarge) => expect(admit(source).isLarge).toBe(isLarge));
});
