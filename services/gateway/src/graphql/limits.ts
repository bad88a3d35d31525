import { Kind, type DocumentNode } from 'graphql';
import type { GraphQLConfig } from '../config.ts';
import type { OperationSize } from './operation-size.ts';

const MAX_INTROSPECTION_DEPTH = 20;
/** Applies with fragments expanded, because planning takes as long as if they were written out. */
const MAX_FIELDS = 2_000;
/** Blanks, comments and texts take time as well, however few tokens they are; and every error looks for its line from the beginning. */
const MAX_CHARACTERS_PER_TOKEN = 32;
const MAX_LINES = 10_000;
const MIN_TOKENS = 4_000;
/** Validation compares fragments with each other, and with each operation. */
const MAX_FRAGMENT_PAIRS = 20_000;

/** Whether the text alone is over the limits: docs/limits.md. */
export function isTooLong(source: string, { maxTokens }: Pick<GraphQLConfig, 'maxTokens'>): boolean {
  if (maxTokens === 0 || source.length <= MAX_LINES) return false; // a line has at least one character
  const mostLines = Math.max(maxTokens, MAX_LINES);
  return source.length > mostCharacters(maxTokens) || source.split(/\r\n|[\n\r]/, mostLines + 1).length > mostLines;
}

const mostCharacters = (maxTokens: number) => Math.max(maxTokens, MIN_TOKENS) * MAX_CHARACTERS_PER_TOKEN;

/** Whether the document has too many fragments: docs/limits.md. */
export function* fragmentLimit(
  { definitions }: DocumentNode,
  { maxTokens }: Pick<GraphQLConfig, 'maxTokens'>,
): Generator<string> {
  const fragments = definitions.filter(({ kind }) => kind === Kind.FRAGMENT_DEFINITION).length;
  if (maxTokens > 0 && fragments * definitions.length > MAX_FRAGMENT_PAIRS)
    yield 'The document has too many fragments.';
}

/** The limits that an operation exceeds, independent of its variables: docs/limits.md. */
export function* overLimits(
  size: OperationSize,
  { maxDepth, maxAliases, maxTokens }: GraphQLConfig,
): Generator<string> {
  if (maxDepth > 0 && size.depth > maxDepth) yield 'The operation is nested too deeply.';
  if (maxDepth > 0 && size.introspectionDepth > Math.max(maxDepth, MAX_INTROSPECTION_DEPTH))
    yield 'The introspection is nested too deeply.';
  if (maxAliases > 0 && size.aliases > maxAliases) yield 'The operation has too many aliases.';
  if (maxTokens > 0 && size.fields > Math.max(maxTokens / 2, MAX_FIELDS)) yield 'The operation has too many fields.';
  if (maxTokens > 0 && size.characters > mostCharacters(maxTokens))
    yield 'The arguments of the operation are too long.';
  if (size.authMutations > 1)
    yield 'An operation may have one mutation that proves or replaces a password, an address or a token.';
}
