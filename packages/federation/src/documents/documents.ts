import {
  type DocumentNode,
  getOperationAST,
  GraphQLError,
  type GraphQLSchema,
  Kind,
  type OperationDefinitionNode,
} from 'graphql';
import { LRUCache } from 'lru-cache';
import { createHash } from 'node:crypto';
import { clientOperation, conditionVariables, settleConditions } from '../operation/client-operation.ts';
import { InvalidOperation } from './invalid-operation.ts';
import { costOf, createSizer, type OperationSize, type SizeOptions } from './operation-size.ts';
import { createParts, type PartOf } from './parts.ts';
import { createValidation, parseDocument } from './validation.ts';
import type { VariablesOperation } from './variables.ts';

/** A parsed and validated document, to be kept and run many times. */
export interface PreparedOperation extends VariablesOperation {
  /** The same for this operation of this text on every graph, and for no other. Short, however long the text and its names are. */
  readonly id: string;
  /** The id that it has once it is settled with these variables. */
  settledId(variables: Readonly<Record<string, unknown>>): string;
  /** The document's text. */
  readonly source: string;
  /** As the document has it. */
  readonly operationName: string | undefined;
  /** What is derived from it: its plan, for example. */
  readonly partOf: PartOf;
  /** The memory of its document and everything derived from it, as far as it is counted. */
  readonly bytes: number;
  /** How many objects it may produce, with these coerced variables (`OperationSize.cost`). */
  cost(variables: Readonly<Record<string, unknown>>): number;
  /** As `DocumentsOptions.isLarge` said. @default false */
  readonly isLarge?: boolean;
}

/** What clients' documents may have at most, independent of their variables. 0 switches a limit off. */
export interface DocumentLimits {
  /**
   * Tokens of a document. Fields of an operation are limited to half of it, at least 2,000; the document's lines to as many, at
   * least 10,000; its characters, and those of an operation's arguments, to 32 for each, at least 128,000; and its fragments.
   */
  maxTokens: number;
  /** Levels of fields; below `__schema` and `__type` 20, if that is more. */
  maxDepth: number;
  /** Aliases of an operation. */
  maxAliases: number;
  /** Whether clients may read the schema; otherwise, messages suggest no names either. */
  introspection: boolean;
}

export interface DocumentsOptions {
  schema: GraphQLSchema;
  limits: DocumentLimits;
  sizes?: SizeOptions;
  /** Sentences about what is wrong with an operation, for the client. Called before the document is validated. */
  rules?: (operation: OperationDefinitionNode, size: OperationSize) => readonly string[];
  /** Decides `PreparedOperation.isLarge`, for callers that queue operations whose planning takes long. */
  isLarge?: (size: OperationSize) => boolean;
  /** Memory of the documents and of all that is derived from them. Those used least recently go first. @default 32 MiB */
  maxBytes?: number;
}

/** Memory of an operation that ran, in addition to its document. */
const OPERATION_BYTES = 1_024;

interface ValidDocument {
  /** The SHA-256 of its text; the id of its operation if that is settled. */
  hash: string;
  source: string;
  document: DocumentNode;
  sizes: ReadonlyMap<OperationDefinitionNode, OperationSize>;
  /** The operations that ran. */
  operations: Map<OperationDefinitionNode, PreparedOperation>;
  /** The memory of the document and everything derived from it. */
  bytes: number;
}

/** The prepared documents of one graph. */
export interface Documents {
  /**
   * Returns an operation of a client's document. Parses and validates the document and applies the limits, unless it is cached;
   * while it is, the same operation is the same object. Messages never repeat values of the document.
   * @throws InvalidOperation
   */
  admit(source: string, operationName?: string): PreparedOperation;
  /** The same for a cached document, at almost no cost; undefined if it is not cached. @throws InvalidOperation */
  admitKnown(source: string, operationName?: string): PreparedOperation | undefined;
  /**
   * The same operation with these values in its `@skip` and `@include`, as a document of its own; itself if they depend on no
   * variables. For subscriptions: their variables never change, and each event needs the plan.
   */
  settle(operation: PreparedOperation, variables: Readonly<Record<string, unknown>>): PreparedOperation;
  /** The document whose text has this SHA-256 (hex), if it is cached. */
  parsed(hash: string): DocumentNode | undefined;
  /** The memory of the cached documents. */
  bytes(): number;
}

/** Prepares clients' documents for one graph: parses, validates, and applies the limits that need no variables. */
export function createDocuments({
  schema,
  limits,
  sizes: sizeOptions = {},
  rules = () => [],
  isLarge = () => false,
  maxBytes = 32 * 1024 * 1024,
}: DocumentsOptions): Documents {
  /** By the SHA-256 of the text, because Apollo Server's document store looks documents up by it. */
  const known = new LRUCache<string, ValidDocument>({
    maxSize: maxBytes,
    sizeCalculation: ({ bytes }) => Math.ceil(bytes), // it takes only integers
  });
  const validate = createValidation(schema, limits.introspection);

  /** Adds to the size of a document (or subtracts, if negative). This may evict it, if it has not been evicted before. */
  const resize = (document: ValidDocument, bytes: number) => {
    document.bytes += bytes;
    if (known.peek(document.hash) !== document) return;
    known.delete(document.hash); // setting the same value again would not update its size
    known.set(document.hash, document);
  };

  const hashOf = (source: string) => createHash('sha256').update(source).digest('hex');

  const sizesOf = (document: DocumentNode) => {
    const sizeOf = createSizer({ schema, document }, sizeOptions);
    const defined = document.definitions.filter((node) => node.kind === Kind.OPERATION_DEFINITION);
    return new Map(defined.map((operation) => [operation, sizeOf(operation)]));
  };

  const keep = (hash: string, source: string, document: DocumentNode, sizes = sizesOf(document)): ValidDocument => {
    const fresh = { hash, source, document, sizes, operations: new Map(), bytes: bytesOf(document, source) };
    known.set(hash, fresh);
    return fresh;
  };

  const prepare = (source: string, hash: string): ValidDocument => {
    if (isTooLong(source, limits)) throw refusal('GRAPHQL_PARSE_FAILED', 'The document is too long.');
    const document = parseDocument(source, limits.maxTokens);
    const sizes = sizesOf(document);
    const problems = [
      ...fragmentLimit(document, limits),
      ...[...sizes].flatMap(([operation, size]) => [...overLimits(size, limits), ...rules(operation, size)]),
    ];
    if (problems.length > 0)
      throw new InvalidOperation(
        'GRAPHQL_VALIDATION_FAILED',
        [...new Set(problems)].map((message) => new GraphQLError(message)),
      );
    validate(document);
    return keep(hash, source, document, sizes);
  };

  const operationIn = (valid: ValidDocument, operationName?: string): PreparedOperation => {
    const { hash, source, document, sizes, operations } = valid;
    const operation = getOperationAST(document, operationName);
    const size = operation && sizes.get(operation);
    if (!size || !schema.getRootType(operation.operation))
      throw refusal('OPERATION_RESOLUTION_FAILURE', 'There is no such operation in the document.');
    const ran = operations.get(operation);
    if (ran) return ran;
    const id = hash.includes('?') ? hash : `${hash}:${document.definitions.indexOf(operation)}`;
    let conditions: readonly string[] | undefined;
    const fresh: PreparedOperation = {
      id,
      settledId(variables) {
        conditions ??= conditionVariables(clientOperation(schema, document, operationName));
        if (conditions.length === 0) return id;
        return `${id}?${conditions.map((name) => Number(variables[name] === true)).join('')}`;
      },
      source,
      schema,
      document,
      operation,
      operationName: operation.name?.value,
      partOf: createParts((bytes) => resize(valid, bytes)),
      get bytes() {
        return valid.bytes;
      },
      isLarge: isLarge(size),
      hideSuggestions: !limits.introspection,
      cost: costOf({ schema, document, operation }, sizeOptions, size),
    };
    operations.set(operation, fresh);
    resize(valid, OPERATION_BYTES);
    return fresh;
  };

  const admitKnown = (source: string, operationName?: string, hash = hashOf(source)): PreparedOperation | undefined => {
    // Lone surrogates have the hash of a replacement character. The parser refuses them.
    const valid = source.isWellFormed() ? known.get(hash) : undefined;
    return valid && operationIn(valid, operationName);
  };

  return {
    admitKnown,
    admit(source, operationName) {
      const hash = hashOf(source);
      try {
        return admitKnown(source, operationName, hash) ?? operationIn(prepare(source, hash), operationName);
      } catch (error) {
        // The stack: the parser can read fragments that spread each other more deeply than they can be validated.
        if (!(error instanceof RangeError)) throw error;
        throw refusal('GRAPHQL_VALIDATION_FAILED', 'The document is nested too deeply.');
      }
    },
    settle(operation, variables) {
      const { id, source, document, operationName } = operation;
      const key = operation.settledId(variables);
      if (key === id) return operation;
      const settled = known.get(key) ?? keep(key, source, settleConditions(document, variables));
      return operationIn(settled, operationName);
    },
    parsed: (hash) => known.get(hash)?.document,
    bytes: () => known.calculatedSize,
  };
}

const refusal = (code: string, message: string) => new InvalidOperation(code, [new GraphQLError(message)]);

/** The memory of a document, without what is derived from it later. The factors were measured. */
function bytesOf(document: DocumentNode, source: string): number {
  let tokens = 0;
  for (let token = document.loc?.startToken; token; token = token.next ?? undefined) tokens++;
  return 5_120 + 4 * source.length + 500 * tokens;
}

const MAX_INTROSPECTION_DEPTH = 20;
/** Applies with fragments expanded, because planning takes as long as if they were written out. */
const MAX_FIELDS = 2_000;
/** Blanks, comments and strings take time even if they are few tokens, and each error counts its line from the beginning. */
const MAX_CHARACTERS_PER_TOKEN = 32;
const MAX_LINES = 10_000;
const MIN_TOKENS = 4_000;
/** Validation compares fragments with each other, and with each operation. */
const MAX_FRAGMENT_PAIRS = 20_000;

/** Whether the length of a text alone exceeds the limits: `admit` refuses it too, but only after hashing the text. */
export function isTooLong(source: string, { maxTokens }: Pick<DocumentLimits, 'maxTokens'>): boolean {
  if (maxTokens === 0 || source.length <= MAX_LINES) return false; // a line has at least one character
  const maxLines = Math.max(maxTokens, MAX_LINES);
  return source.length > maxCharacters(maxTokens) || source.split(/\r\n|[\n\r]/, maxLines + 1).length > maxLines;
}

const maxCharacters = (maxTokens: number) => Math.max(maxTokens, MIN_TOKENS) * MAX_CHARACTERS_PER_TOKEN;

function* fragmentLimit(
  { definitions }: DocumentNode,
  { maxTokens }: Pick<DocumentLimits, 'maxTokens'>,
): Generator<string> {
  const fragments = definitions.filter(({ kind }) => kind === Kind.FRAGMENT_DEFINITION).length;
  if (maxTokens > 0 && fragments * definitions.length > MAX_FRAGMENT_PAIRS)
    yield 'The document has too many fragments.';
}

/** The limits that an operation exceeds. */
function* overLimits(size: OperationSize, { maxDepth, maxAliases, maxTokens }: DocumentLimits): Generator<string> {
  if (maxDepth > 0 && size.depth > maxDepth) yield 'The operation is nested too deeply.';
  if (maxDepth > 0 && size.introspectionDepth > Math.max(maxDepth, MAX_INTROSPECTION_DEPTH))
    yield 'The introspection is nested too deeply.';
  if (maxAliases > 0 && size.aliases > maxAliases) yield 'The operation has too many aliases.';
  if (maxTokens > 0 && size.fields > Math.max(maxTokens / 2, MAX_FIELDS)) yield 'The operation has too many fields.';
  if (maxTokens > 0 && size.characters > maxCharacters(maxTokens)) yield 'The arguments of the operation are too long.';
}
