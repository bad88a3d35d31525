import { constants } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';

export const ROOT = join(dirname(fileURLToPath(import.meta.url)), '..', '..');
export const CACHE = join(ROOT, '.cache');

/** A message for the person at the terminal when a command cannot continue. */
export class Failure extends Error {
  /** @param {string} message @param {number} exitCode */
  constructor(message, exitCode = 1) {
    super(message);
    this.exitCode = exitCode;
  }
}

/** Returns the exit code that a shell reports for a program ended by a signal. */
export function exitCodeOf(signal) {
  return 128 + (constants.signals[signal] ?? 0);
}

/** Runs a script's body. Prints the message of a Failure; any other error is a defect and is printed with its stack. */
export async function main(body) {
  try {
    process.exitCode = await body();
  } catch (error) {
    console.error(error instanceof Failure ? error.message : error);
    process.exitCode = error instanceof Failure ? error.exitCode : 1;
  }
}

/** Whether the arguments request help. */
export function requestsHelp(args) {
  return args.includes('--help') || args.includes('-h');
}

/**
 * Checks the arguments before anything is installed. With `--help`, prints the text and returns undefined.
 * @throws Failure with exit code 2 for an unknown argument, unless `strict` is false because another program gets them
 */
export function checkArguments(args, { help, options = {}, strict = true }) {
  if (requestsHelp(args)) {
    console.log(help.trim());
    return undefined;
  }
  try {
    if (strict) parseArgs({ args, options });
  } catch (error) {
    throw new Failure(`${error.message}\nSee --help.`, 2);
  }
  return args;
}
