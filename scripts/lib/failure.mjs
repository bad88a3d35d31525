import { constants } from 'node:os';

/** What the person at the terminal is told when a command cannot go on. */
export class Failure extends Error {
  /** @param {string} message @param {number} exitCode */
  constructor(message, exitCode = 1) {
    super(message);
    this.exitCode = exitCode;
  }
}

/** The user ended it: nothing is wrong. */
export class Interrupted extends Failure {
  constructor(what, signal) {
    super(`${what} was interrupted.`, exitCodeOf(signal));
  }
}

/** As a shell gives it for who ended by a signal. */
export function exitCodeOf(signal) {
  return 128 + (constants.signals[signal] ?? 0);
}

/** Runs a script's body; a Failure is told in its words, anything else is a defect of ours with its stack. */
export async function main(body) {
  try {
    process.exitCode = await body();
  } catch (error) {
    console.error(error instanceof Failure ? error.message : error);
    process.exitCode = error instanceof Failure ? error.exitCode : 1;
  }
}
