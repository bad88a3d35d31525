import { GraphQLError } from 'graphql';

/** Why an operation is refused. `errors` are ready for the client, each with its code in `extensions`. */
export class InvalidOperation extends Error {
  override readonly name = 'InvalidOperation';
  /** The code of the first error. */
  readonly code: string;
  readonly errors: readonly GraphQLError[];
  /** Set by callers whose request itself is wrong. Otherwise GraphQL over HTTP decides, as for errors in the document. */
  readonly httpStatus: number | undefined;

  /** `code` is for errors that do not have one. */
  constructor(code: string, errors: readonly GraphQLError[], httpStatus?: number) {
    super(errors[0]?.message ?? code);
    this.httpStatus = httpStatus;
    this.errors = errors.map((error) => (error.extensions.code === undefined ? withCode(error, code) : error));
    this.code = (this.errors[0]?.extensions.code ?? code) as string; // set above
  }
}

function withCode({ message, nodes, source, positions, extensions }: GraphQLError, code: string): GraphQLError {
  return new GraphQLError(message, { nodes, source, positions, extensions: { ...extensions, code } });
}
