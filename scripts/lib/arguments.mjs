import { ArgumentError, readArguments } from '../../libs/service/src/arguments.mjs';
import { Failure } from './failure.mjs';

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
  if (!strict) return args;
  try {
    readArguments({ args, options });
  } catch (error) {
    throw error instanceof ArgumentError ? new Failure(`${error.message}\nSee --help.`, 2) : error;
  }
  return args;
}
