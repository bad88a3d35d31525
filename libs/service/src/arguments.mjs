// Plain JavaScript, for any Node from 20 and with nothing installed: the launchers read their arguments with it, too.
import { parseArgs } from 'node:util';
import { nearestName } from './nearest-name.mjs';

/** The command was called in a way that it does not know; the message says which. */
export class ArgumentError extends Error {}

/** As Node's `parseArgs` gives them, but what is wrong is said in our words. */
export function readArguments({ args, options = {}, allowPositionals = false }) {
  const { values, positionals, tokens } = parseArgs({
    args,
    options,
    allowPositionals: true,
    strict: false,
    tokens: true,
  });
  for (const token of tokens) {
    const problem = token.kind === 'option' ? problemOf(token, options) : undefined;
    if (problem) throw new ArgumentError(problem);
  }
  if (!allowPositionals && positionals.length > 0)
    throw new ArgumentError(`"${positionals[0]}" is too much: only options are known here.`);
  return { values, positionals };
}

function problemOf({ name, rawName, value, inlineValue }, options) {
  if (!Object.hasOwn(options, name)) {
    const meant = nearestName(name, Object.keys(options));
    return `There is no option ${rawName}${meant ? `: is --${meant} meant?` : '.'}`;
  }
  if (options[name].type === 'boolean') return value === undefined ? undefined : `${rawName} takes no value.`;
  // What looks like an option is one, unless it is written behind a `=`.
  const isGiven = value !== undefined && (inlineValue || value === '-' || !value.startsWith('-'));
  return isGiven ? undefined : `${rawName} needs a value.`;
}
