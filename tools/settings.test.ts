import { glob, readFile } from 'node:fs/promises';
import { parseEnv } from 'node:util';
import { findSuspectSettings, type Env } from '../libs/service/src/config.ts';
import { readEmbeddedSettings, readPlatformConfig } from '../deploy/all-in-one/src/config.ts';

const ROOT = new URL('..', import.meta.url).pathname;

/** Each setting in `.env.example` with its default. */
const example = parseEnv(await readFile(`${ROOT}.env.example`, 'utf8'));

/** Where a setting is read: `NAME: setting.int(…)` in a schema, by its name, or among the files of TLS. */
const READ =
  /^\s+([A-Z][A-Z0-9_]+): [a-z]\w*[.(]|read\w+File\(\w+(?:\.env)?, '(\w+)'\)|\b(?:ca|cert|key): '(\w+_FILE)'/gm;

async function settingsInSource(): Promise<Set<string>> {
  const names = new Set<string>();
  for await (const file of glob(['{services,deploy,packages,libs}/*/src/**/*.ts'], { cwd: ROOT })) {
    const text = await readFile(`${ROOT}${file}`, 'utf8');
    if (/\bread(Env|\w+File)\(/.test(text)) for (const [, ...name] of text.matchAll(READ)) names.add(name.join(''));
  }
  return names;
}

function expectDefaults(env: Env): void {
  const server = 'postgres://127.0.0.1/postgres';
  expect(readPlatformConfig(env, server)).toEqual(readPlatformConfig({}, server));
  expect(readEmbeddedSettings(env)).toEqual(readEmbeddedSettings({}));
}

describe('.env.example', () => {
  it('lists exactly the settings that the code reads', async () => {
    expect(Object.keys(example).sort()).toEqual([...(await settingsInSource())].sort());
  });

  it('contains the defaults', () => expectDefaults(example));

  it('lists only settings for which empty means missing', () => {
    expectDefaults(Object.fromEntries(Object.keys(example).map((name) => [name, ''])));
  });

  it('has no setting that looks like a misspelling of another', () => {
    expect(findSuspectSettings({ ...example, BACKUP_DIR: '/var/backups' })).toEqual([
      'BACKUP_DIR is not a setting and is ignored: is BACKUPS_DIR meant?',
    ]);
  });
});
