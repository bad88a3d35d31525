import { constants } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';

export const ROOT = join(dirname(fileURLToPath(import.meta.url)), '..', '..');
export const CACHE = join(ROOT, '.cache');

/** What the person at the terminal reads when a command cannot go on. */
export class Failure extends Error {
  /** @param {string} message @param {number} exitCode */
  constructor(message, exitCode = 1) {
    super(message);
    this.exitCode = exitCode;
  }
}

/** The exit code that a shell reports for a program that a signal has ended. */
export function exitCodeOf(signal) {
  return 128 + (constants.signals[signal] ?? 0);
}

/** Runs a script's body; a Failure is printed in its words, anything else is a defect of ours with its stack. */
export async function main(body) {
  try {
    process.exitCode = await body();
  } catch (error) {
    console.error(error instanceof Failure ? error.message : error);
    process.exitCode = error instanceof Failure ? error.exitCode : 1;
  }
}

/** Whether the arguments ask for nothing but an explanation. */
export function asksForHelp(args) {
  return args.includes('--help') || args.includes('-h');
}

/**
 * Checks the arguments before anything is installed. With `--help` the text is printed and nothing is returned.
 * @throws Failure with exit code 2 for an argument that the command does not know, unless others are for another program
 */
export function checkArguments(args, { help, options = {}, strict = true }) {
  if (asksForHelp(args)) {
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
