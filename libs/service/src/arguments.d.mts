import type { parseArgs, ParseArgsConfig } from 'node:util';

export class ArgumentError extends Error {}
/** @throws ArgumentError */
export function readArguments<Config extends ParseArgsConfig>(
  config: Config,
): Pick<ReturnType<typeof parseArgs<Config>>, 'values' | 'positionals'>;
