import { parseArgs } from 'node:util';
import { readFileSync } from 'node:fs';
import { STORE_NAMES } from '../src/databases/store.ts';

export const HELP = readFileSync(new URL('main.help.txt', import.meta.url), 'utf8').trim();

/** Whether each command takes a file, and the options that only it has. */
const COMMANDS = {
  create: { takesFile: false, options: [] },
  list: { takesFile: false, options: [] },
  verify: { takesFile: true, options: [] },
  restore: {
    takesFile: true,
    options: ['yes', 'allow-loss', 'store', 'dry-run', 'safety-backup', 'no-safety-backup', 'identity'],
  },
  undo: { takesFile: false, options: ['yes'] },
  'new-epoch': { takesFile: false, options: ['yes', 'at-least'] },
  download: { takesFile: true, options: ['to'] },
  upload: { takesFile: true, options: ['as'] },
  delete: { takesFile: true, options: ['yes'] },
  scan: { takesFile: false, options: [] },
} satisfies Record<string, { takesFile: boolean; options: string[] }>;
export type Command = keyof typeof COMMANDS;

export interface Options {
  command: Command;
  /** An archive's name, or a path for an upload; empty for commands without a file. */
  file: string;
  url: URL;
  to: string | undefined;
  as: string | undefined;
  identity: string | undefined;
  atLeast: number | undefined;
  yes: boolean;
  allowLoss: boolean;
  dryRun: boolean;
  /** Undefined: as configured in Taskmesh. */
  safetyBackup: boolean | undefined;
  /** Undefined: all stores in the archive. */
  stores: string[] | undefined;
  json: boolean;
}

export class UsageError extends Error {}

/** @throws UsageError */
export function readOptions(args: string[], env: Readonly<Record<string, string | undefined>>): Options | 'help' {
  const { values, positionals } = parse(args);
  const atLeast = values['at-least'];
  if (values.help || args.length === 0) return 'help';
  const [command = '', file = '', ...rest] = positionals;
  if (!isCommand(command)) throw new UsageError(command ? `There is no command "${command}".` : 'Which command?');
  if (COMMANDS[command].takesFile && file === '') throw new UsageError(`${command} needs a file.`);
  const surplus = COMMANDS[command].takesFile ? rest[0] : positionals[1];
  if (surplus !== undefined) throw new UsageError(`"${surplus}" is one argument too many for ${command}.`);
  for (const option of Object.keys(values)) {
    const of = Object.entries(COMMANDS).flatMap(([name, { options }]) =>
      options.some((own) => own === option) ? [name] : [],
    );
    if (of.length > 0 && !of.includes(command)) throw new UsageError(`--${option} is for ${of.join(', ')} only.`);
  }
  if (values['safety-backup'] && values['no-safety-backup'])
    throw new UsageError('--safety-backup and --no-safety-backup exclude each other.');
  if (values['dry-run'] && (values['safety-backup'] ?? values['no-safety-backup']))
    throw new UsageError('A dry run replaces nothing, so it makes no safety backup.');
  const unknownStore = values.store?.find((name) => !STORE_NAMES.some((known) => known === name));
  if (unknownStore !== undefined)
    throw new UsageError(`There is no store "${unknownStore}". There are: ${STORE_NAMES.join(', ')}.`);
  if (atLeast !== undefined && !/^\d{1,10}$/.test(atLeast)) throw new UsageError('--at-least takes a whole number.');
  return {
    command,
    file,
    url: urlOf(values.url ?? (env['TASKMESH_URL'] || `http://127.0.0.1:${env['PORT'] || 4000}`)),
    to: values.to,
    as: values.as,
    identity: values.identity,
    atLeast: atLeast === undefined ? undefined : Number(atLeast),
    yes: values.yes ?? false,
    allowLoss: values['allow-loss'] ?? false,
    dryRun: values['dry-run'] ?? false,
    stores: values.store,
    safetyBackup: values['no-safety-backup'] ? false : values['safety-backup'],
    json: values.json ?? false,
  };
}

const text = { type: 'string' } as const;
const flag = { type: 'boolean' } as const;
const OPTIONS = {
  ...{ yes: flag, 'allow-loss': flag, 'dry-run': flag, 'safety-backup': flag, 'no-safety-backup': flag, json: flag },
  ...{ to: text, as: text, identity: text, 'at-least': text, url: text },
  store: { ...text, multiple: true },
  help: { ...flag, short: 'h' },
} as const;

function parse(args: string[]) {
  try {
    return parseArgs({ args, options: OPTIONS, allowPositionals: true });
  } catch (cause) {
    throw new UsageError(cause instanceof Error ? cause.message : String(cause), { cause });
  }
}

function isCommand(name: string): name is Command {
  return Object.hasOwn(COMMANDS, name);
}

function urlOf(text: string): URL {
  const url = URL.canParse(text) ? new URL(text) : undefined;
  if (url && ['http:', 'https:'].includes(url.protocol)) return url;
  throw new UsageError(`The address of Taskmesh must be a URL such as http://127.0.0.1:4000 (is: ${text}).`);
}
