import { TaskmeshError } from '@taskmesh/client';

/** An error in words for operators. `status` is the HTTP status, or 0 without an answer. */
export class OperatorsError extends TaskmeshError {
  readonly status: number;

  constructor(status: number, message: string) {
    super('OPERATORS', message);
    this.status = status;
  }
}

export const notReached = () =>
  new OperatorsError(0, 'The server cannot be reached. Check the connection, then try again.');
