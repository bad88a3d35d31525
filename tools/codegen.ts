/**
 * Generates files from the services' SDL: each service's resolver types, the supergraph that the gateway serves, and the
 * operations of the client and the REST API. Also generates types from the API description for the console's operator view.
 * With --check, only reports whether the files are up to date.
 */
import { composeServices } from '@apollo/composition';
import { Supergraph } from '@apollo/federation-internals';
import { generate } from '@graphql-codegen/cli';
import {
  Kind,
  parse,
  print,
  printSchema,
  stripIgnoredCharacters,
  visit,
  type FragmentDefinitionNode,
  type OperationDefinitionNode,
} from 'graphql';
import { existsSync, globSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join, relative } from 'node:path';
import { archiveEndpoints } from '../services/gateway/src/rest/backup/archives.ts';
import { restoreEndpoints } from '../services/gateway/src/rest/backup/restores.ts';
import type { Endpoint } from '../services/gateway/src/rest/endpoint.ts';
import { schemasOf } from '../services/gateway/src/rest/openapi/schemas.ts';
import {
  deadLetterEndpoints,
  operatorsSignInEndpoints,
  statusEndpoints,
} from '../services/gateway/src/rest/operators.ts';
import { typescriptOf } from './typescript-of.ts';

const HELP = readFileSync(new URL('codegen.help.txt', import.meta.url), 'utf8').trim();
const args = process.argv.slice(2);
if (!args.every((arg) => arg === '--check')) {
  console.error(HELP);
  process.exit(2);
}

const ROOT = join(import.meta.dirname, '..');
const isCheck = args.includes('--check');

const outputs = new Map<string, string>();
const sdl = new Map<string, string>();

for (const service of globSync('*/codegen.json', { cwd: join(ROOT, 'services') })
  .map(dirname)
  .toSorted()) {
  const folder = join(ROOT, 'services', service);
  const files = globSync('src/**/*.graphql', { cwd: folder }).toSorted();
  sdl.set(service, files.map((file) => readFileSync(join(folder, file), 'utf8')).join('\n'));
  await resolverTypes(
    folder,
    files.map((file) => join(folder, file)),
  );
}
const supergraphText = supergraph();
outputs.set(join(ROOT, 'services/gateway/supergraph.graphql'), supergraphText);
const apiSchema = printSchema(Supergraph.build(supergraphText).apiSchema().toGraphQLJSSchema());
await operations(apiSchema, {
  folder: 'packages/client/src',
  type: { name: 'Document', from: './document.ts' },
  constantOf: (name) => name.replaceAll(/(?<=[a-z])(?=[A-Z])/g, '_').toUpperCase(),
  textOf: (operation, fragments) => [operation, ...fragmentsOf(operation, fragments)].map(print).join(' '),
});
await operations(apiSchema, {
  folder: 'services/gateway/src/rest',
  type: { name: 'StoredOperation', from: './endpoint.ts' },
  constantOf: (name) => name.replace(/^Rest(.)/, (_, first: string) => first.toLowerCase()),
  textOf: (operation, fragments) => print(withoutFragments(operation, fragments)),
});

outputs.set(
  join(ROOT, 'services/gateway/console/src/operations/api/answers.generated.ts'),
  typescriptOf(schemasOf(operatorsEndpoints(), [])),
);

const stale = [...outputs].filter(([file, text]) => !existsSync(file) || readFileSync(file, 'utf8') !== text);
if (!isCheck)
  for (const [file, text] of stale) {
    mkdirSync(dirname(file), { recursive: true }); // a new service has no such folder yet
    writeFileSync(file, text);
  }
for (const [file] of stale) console.log(`${isCheck ? 'stale' : 'written'}: ${relative(ROOT, file)}`);
if (isCheck && stale.length > 0) {
  console.error('Generated files are not up to date: run "npm run codegen" and commit the result.');
  process.exit(1);
}

async function resolverTypes(folder: string, schema: string[]): Promise<void> {
  const target = join(folder, 'src/graphql/types.generated.ts');
  const content = await typesOf({ schema }, ['typescript', 'typescript-resolvers'], {
    federation: true,
    useTypeImports: true,
    avoidOptionals: { query: true, mutation: true, resolvers: false },
    scalars: { DateTime: { input: 'unknown', output: 'string' }, ID: 'string' },
    importExtension: '.ts',
    ...JSON.parse(readFileSync(join(folder, 'codegen.json'), 'utf8')),
  });
  outputs.set(target, tidy(content));
}

/** Returns the types that these plugins generate. */
async function typesOf(from: { schema: string | string[]; documents?: string[] }, plugins: string[], more: object) {
  const config = { enumsAsTypes: true, emitLegacyCommonJSImports: false, ...more };
  const files: { content: string }[] = await generate(
    { silent: true, ...from, generates: { types: { plugins, config } } },
    false,
  );
  return files.map(({ content }) => content).join('');
}

/** Normalises the output of all plugins: the same line breaks, no trailing blanks. */
function tidy(content: string): string {
  return `${content.replaceAll(/[ \t]+$/gm, '').trim()}\n`;
}

/** The endpoints only for their descriptions: none is called, so they need no implementation. */
function operatorsEndpoints(): Endpoint[] {
  const unused = {} as never;
  return [
    ...archiveEndpoints(unused),
    ...restoreEndpoints(unused),
    ...operatorsSignInEndpoints(unused),
    ...statusEndpoints(unused),
    ...deadLetterEndpoints(unused),
  ];
}

type Fragments = Map<string, FragmentDefinitionNode>;

interface Operations {
  folder: string;
  /** The type of the constants. */
  type: { name: string; from: string };
  constantOf: (operationName: string) => string;
  textOf: (operation: OperationDefinitionNode, fragments: Fragments) => string;
}

/** Generates a folder's operations with their types, validated against the schema that clients see. */
async function operations(schema: string, of: Operations): Promise<void> {
  const folder = join(ROOT, of.folder);
  const target = join(folder, 'operations.generated.ts');
  const sources = globSync('{operations/*,operations}.graphql', { cwd: folder })
    .toSorted()
    .map((file) => readFileSync(join(folder, file), 'utf8'));
  const content = await typesOf({ schema, documents: sources }, ['typescript-operations'], {
    scalars: { DateTime: 'string', ID: 'string' },
    skipTypename: true,
  });
  const head = `import type { ${of.type.name} } from '${of.type.from}';\n\n`;
  outputs.set(target, tidy(`${head}${content}\n${documentsOf(sources, of).join('\n')}`));
}

/** Returns one constant per operation, with its text minified. */
function documentsOf(sources: string[], { type, constantOf, textOf }: Operations): string[] {
  const { definitions } = parse(sources.join('\n'));
  const fragments = new Map(
    definitions.flatMap((each) => (each.kind === Kind.FRAGMENT_DEFINITION ? [[each.name.value, each]] : [])),
  );
  const operations = definitions.filter((each) => each.kind === Kind.OPERATION_DEFINITION);
  return operations.map((operation) => {
    const name = operation.name?.value ?? '';
    const kind = `${operation.operation.charAt(0).toUpperCase()}${operation.operation.slice(1)}`;
    const text = stripIgnoredCharacters(textOf(operation, fragments));
    return `export const ${constantOf(name)}: ${type.name}<${name}${kind}, ${name}${kind}Variables> = ${JSON.stringify(text)};`;
  });
}

/** Replaces each fragment spread with the fragment's selections. */
function withoutFragments(operation: OperationDefinitionNode, fragments: Fragments): OperationDefinitionNode {
  return visit(operation, {
    SelectionSet: (set) => ({
      ...set,
      selections: set.selections.flatMap((each) =>
        each.kind === Kind.FRAGMENT_SPREAD ? (fragments.get(each.name.value)?.selectionSet.selections ?? []) : each,
      ),
    }),
  });
}

/** Returns all fragments that it spreads, directly or through other fragments. */
function fragmentsOf(
  of: OperationDefinitionNode | FragmentDefinitionNode,
  all: Fragments,
  found = new Set<FragmentDefinitionNode>(),
): Set<FragmentDefinitionNode> {
  visit(of, {
    FragmentSpread({ name }) {
      const fragment = all.get(name.value);
      if (!fragment || found.has(fragment)) return;
      found.add(fragment);
      fragmentsOf(fragment, all, found);
    },
  });
  return found;
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
