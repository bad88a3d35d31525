import type { GraphQLConfig } from '../config.ts';
import type { OperationSize } from './operation-size.ts';

const MAX_INTROSPECTION_DEPTH = 20;
/** Applies with fragments expanded, because planning takes as long as if they were written out. */
const MAX_FIELDS = 10_000;

/** The limits that an operation exceeds, independent of its variables: docs/limits.md. */
export function* overLimits(
  size: OperationSize,
  { maxDepth, maxAliases, maxTokens }: GraphQLConfig,
): Generator<string> {
  if (maxDepth > 0 && size.depth > maxDepth) yield 'The operation is nested too deeply.';
  if (maxDepth > 0 && size.introspectionDepth > Math.max(maxDepth, MAX_INTROSPECTION_DEPTH))
    yield 'The introspection is nested too deeply.';
  if (maxAliases > 0 && size.aliases > maxAliases) yield 'The operation has too many aliases.';
  if (maxTokens > 0 && size.fields > Math.max(maxTokens, MAX_FIELDS)) yield 'The operation has too many fields.';
  if (size.authMutations > 1)
    yield 'An operation may have one mutation that proves or replaces a password, an address or a token.';
}
