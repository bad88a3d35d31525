/**
 * Writes what is generated from the services' SDL, and with --check only tells whether it is up to date:
 * each service's resolver types, and the supergraph that the gateway serves.
 */
import { composeServices } from '@apollo/composition';
import { generate } from '@graphql-codegen/cli';
import { parse } from 'graphql';
import { existsSync, globSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join, relative } from 'node:path';

const ROOT = join(import.meta.dirname, '..');
const SERVICES = ['auth', 'tasks', 'backup'];
const check = process.argv.includes('--check');

const outputs = new Map<string, string>();
const sdl = new Map<string, string>();

for (const service of SERVICES) {
  const folder = join(ROOT, 'services', service);
  const files = globSync('src/**/*.graphql', { cwd: folder }).toSorted();
  if (files.length === 0) continue;
  sdl.set(service, files.map((file) => readFileSync(join(folder, file), 'utf8')).join('\n'));
  await resolverTypes(
    folder,
    files.map((file) => join(folder, file)),
  );
}
outputs.set(join(ROOT, 'services/gateway/supergraph.graphql'), supergraph());

const stale = [...outputs].filter(([file, text]) => !existsSync(file) || readFileSync(file, 'utf8') !== text);
if (!check)
  for (const [file, text] of stale) {
    mkdirSync(dirname(file), { recursive: true }); // a new service has no such folder yet
    writeFileSync(file, text);
  }
for (const [file] of stale) console.log(`${check ? 'stale' : 'written'}: ${relative(ROOT, file)}`);
if (check && stale.length > 0) {
  console.error('Generated files are not up to date: run "npm run codegen" and commit the result.');
  process.exit(1);
}

async function resolverTypes(folder: string, schema: string[]): Promise<void> {
  const config = JSON.parse(readFileSync(join(folder, 'codegen.json'), 'utf8'));
  const target = join(folder, 'src/graphql/types.generated.ts');
  const files = await generate(
    {
      silent: true,
      schema,
      generates: {
        [target]: {
          plugins: ['typescript', 'typescript-resolvers'],
          config: {
            federation: true,
            useTypeImports: true,
            enumsAsTypes: true,
            avoidOptionals: { query: true, mutation: true, resolvers: false },
            scalars: { DateTime: { input: 'unknown', output: 'string' }, ID: 'string' },
            emitLegacyCommonJSImports: false,
            importExtension: '.ts',
            ...config,
          },
        },
      },
    },
    false,
  );
  // The same line ends and no trailing blanks, whatever the plugins print.
  for (const { content } of files) outputs.set(target, `${content.replaceAll(/[ \t]+$/gm, '').trim()}\n`);
}

function supergraph(): string {
  const services = [...sdl].map(([name, text]) => ({
    name,
    url: `http://${name}.invalid/graphql`,
    typeDefs: parse(text),
  }));
  const { supergraphSdl, errors } = composeServices(services);
  if (supergraphSdl) return `${supergraphSdl.trim()}\n`;
  for (const error of errors ?? []) console.error(error.message);
  throw new Error('The services do not compose into a graph.');
}
