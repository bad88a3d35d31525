import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import util from 'node:util';
import { nearestName } from '../../libs/service/src/nearest-name.mjs';
import { Failure, ROOT } from './command.mjs';

const SETTING = /^\s*(?:export\s)?\s*([A-Za-z_]\w*)\s*=\s*(.*)$/;
/** A setting in YAML's syntax. */
const WITH_COLON = /^\s*([A-Z][A-Z0-9_]*)\s*:\s/;
/** Any other name may be part of a secret, because base64 can end with `=`; messages must not show it. */
const PLAIN_NAME = /^([A-Z][A-Z0-9_]*|[a-z][a-z0-9_]*)$/;
/** Variables of other programs, including those that we start. */
const FOREIGN_VARIABLES =
  /^(PATH|HOME|TZ|LANG|JAVA_HOME|SSL_CERT_\w+|(AWS|NODE|npm|OTEL|TASKMESH)_\w+|UV_THREADPOOL_SIZE|MALLOC_ARENA_MAX|PG[A-Z]+|\w+_PROXY)$/i;

/**
 * Adds the settings in `.env`, if it exists, to the environment, without replacing variables. All of the file is intended for
 * us, so the returned sentences list each name that is not a setting.
 */
export function readEnvFile() {
  const file = join(ROOT, '.env');
  if (!existsSync(file)) return [];
  if (!util.parseEnv) throw new Failure('To read the file .env, Node 20.12 or newer is needed.');
  const { settings, problems } = readLines(readText(file));
  if (problems.length > 0) throw new Failure(`The file .env has lines that set nothing:\n${problems.join('\n')}`);
  const preset = new Set(Object.keys(process.env));
  // Parsed one by one: versions of Node treat blanks, tabs and a byte order mark between settings differently, and may lose one.
  for (const [name, { text }] of settings) process.env[name] ??= util.parseEnv(text)[name];
  return findUnknown(settings, preset);
}

function readText(file) {
  try {
    return readFileSync(file, 'utf8');
  } catch (error) {
    throw new Failure(
      `The settings in ${file} cannot be read (${error.code}). Make it a file that your user may read, or remove it.`,
    );
  }
}

/** Returns the settings by name, and problems of other lines, whose texts omit values, because these may be secrets. */
function readLines(text) {
  const lines = text.split(/\r?\n/);
  const settings = new Map();
  const problems = [];
  for (let index = 0; index < lines.length; index++) {
    const line = lines[index];
    if (/^\s*(#|$)/.test(line)) continue;
    const number = index + 1;
    const [, name, value] = SETTING.exec(line) ?? [];
    const [, yamlName] = WITH_COLON.exec(line) ?? [];
    if (name === undefined)
      problems.push(
        `  - line ${number}: ${yamlName ? `write ${yamlName}=… instead of ${yamlName}: …` : 'is not NAME=value'}`,
      );
    else if (/^[^"'`#\s][^#]*(?<!\s)#/.test(value) || /^[^=]*=#\S/.test(line))
      problems.push(`  - line ${number}: # begins a comment: put the value in quotes, or a blank before the #`);
    else {
      const first = index;
      index = lastLineOf(value, lines, index);
      const text = [`${name}=${value}`, ...lines.slice(first + 1, index + 1)].join('\n');
      settings.set(name, { line: number, text });
    }
  }
  return { settings, problems };
}

/** A quoted value may span several lines. */
function lastLineOf(value, lines, index) {
  const [quote] = /^["'`]/.exec(value) ?? [];
  if (!quote || value.includes(quote, 1)) return index;
  const last = lines.findIndex((line, at) => at > index && line.includes(quote));
  return last < 0 ? index : last;
}

/** Returns the warnings. Removes misspelt settings, because the child process would warn about them again. */
function findUnknown(settings, preset) {
  const example = join(ROOT, '.env.example');
  if (!existsSync(example)) return [];
  const known = [...readLines(readFileSync(example, 'utf8')).settings.keys()];
  return [...settings].flatMap(([name, { line }]) => {
    if (known.includes(name) || FOREIGN_VARIABLES.test(name)) return [];
    const meant = nearestName(name, known) ?? known.find((each) => each === name.replace(/_HOST$/, '_URL'));
    if (meant && !preset.has(name)) delete process.env[name];
    const shownName = meant || PLAIN_NAME.test(name) ? name : 'its name';
    const hint = meant ? `is ${meant} meant?` : '.env.example lists all settings.';
    return [`.env, line ${line}: ${shownName} is not a setting and is ignored: ${hint}`];
  });
}
