/** An error in words for operators. `status` is the HTTP status, or 0 without an answer. */
export class OperatorsError extends Error {
  override readonly name = 'OperatorsError';
  readonly status: number;

  constructor(status: number, message: string) {
    super(message);
    this.status = status;
  }
}

export const notReached = () =>
  new OperatorsError(0, 'The server cannot be reached. Check the connection, then try again.');

export function explainError(error: unknown): string {
  return error instanceof OperatorsError ? error.message : 'Something went wrong in this page. Please load it again.';
}
