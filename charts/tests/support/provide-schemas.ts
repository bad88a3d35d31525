import { execFile } from 'node:child_process';
import { createHash } from 'node:crypto';
import { globSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { promisify } from 'node:util';
import { parseAllDocuments } from 'yaml';
import { CACHE, makeOnce, readEntry } from './programs.ts';
import ts from 'typescript';

/** JSON Schema, and what Kubernetes adds to it, as far as anybody here looks at it. */
interface Schema {
  type?: string | string[];
  nullable?: boolean;
  properties?: Record<string, Schema>;
  items?: Schema;
  additionalProperties?: Schema | boolean;
  'x-kubernetes-group-version-kind'?: { group: string; version: string; kind: string }[];
  'x-kubernetes-preserve-unknown-fields'?: boolean;
  [keyword: string]: unknown;
}

/**
 * The schema of a custom kind as JSON Schema that refuses what a server warns of and drops: fields that it does not name.
 * Alternatives (`oneOf` and the like) stay: they only narrow what is named around them.
 */
function strictSchema(schema: Schema): Schema {
  const { type, nullable, properties, items, additionalProperties, ...others } = schema;
  const isClosed = properties && additionalProperties === undefined && !schema['x-kubernetes-preserve-unknown-fields'];
  return {
    ...others,
    ...(type && { type: nullable ? [type, 'null'].flat() : type }),
    ...(items && { items: strictSchema(items) }),
    ...(properties && {
      properties: Object.fromEntries(Object.entries(properties).map(([name, each]) => [name, strictSchema(each)])),
    }),
    ...(isClosed && { additionalProperties: false }),
    ...(additionalProperties !== undefined && {
      additionalProperties:
        typeof additionalProperties === 'object' ? strictSchema(additionalProperties) : additionalProperties,
    }),
  };
}

/**
 * An interface as JSON Schema that takes no other fields: for kinds that are published as types only.
 * @throws Error at a type that it does not know
 */
function schemaOfInterface(text: string, name: string): Schema {
  const found = ts
    .createSourceFile('types.d.ts', text, ts.ScriptTarget.Latest)
    .statements.filter(ts.isInterfaceDeclaration)
    .find((each) => each.name.text === name);
  if (!found) throw new Error(`There is no interface ${name}.`);
  return ofMembers(found.members, true);
}

const PLAIN: Partial<Record<ts.SyntaxKind, Schema>> = {
  [ts.SyntaxKind.StringKeyword]: { type: 'string' },
  [ts.SyntaxKind.NumberKeyword]: { type: 'number' },
  [ts.SyntaxKind.BooleanKeyword]: { type: 'boolean' },
  [ts.SyntaxKind.AnyKeyword]: {},
};

/** @param isClosed that other fields are refused */
function ofType(type: ts.TypeNode, isClosed = true): Schema {
  if (ts.isParenthesizedTypeNode(type)) return ofType(type.type, isClosed);
  if (ts.isTypeLiteralNode(type)) return ofMembers(type.members, isClosed);
  if (ts.isArrayTypeNode(type)) return { type: 'array', items: ofType(type.elementType, isClosed) };
  if (ts.isLiteralTypeNode(type) && ts.isStringLiteral(type.literal)) return { enum: [type.literal.text] };
  if (ts.isUnionTypeNode(type)) return { anyOf: type.types.map((each) => ofType(each, isClosed)) };
  // The first has every field; the others say which of them go together.
  if (ts.isIntersectionTypeNode(type))
    return { allOf: type.types.map((each, at) => ofType(each, isClosed && at === 0)) };
  if (ts.isTypeReferenceNode(type) && ts.isIdentifier(type.typeName)) {
    const [item] = type.typeArguments ?? [];
    if (type.typeName.text === 'Array' && item) return { type: 'array', items: ofType(item, isClosed) };
    if (type.typeName.text === 'IObjectMeta') return { type: 'object' };
  }
  const plain = PLAIN[type.kind];
  if (plain) return plain;
  throw new Error(`This type is not known: ${ts.SyntaxKind[type.kind]}.`);
}

function ofMembers(members: ts.NodeArray<ts.TypeElement>, isClosed: boolean): Schema {
  const properties: Record<string, Schema> = {};
  const required: string[] = [];
  let additionalProperties: Schema | boolean = members.length === 0 || !isClosed;
  for (const member of members) {
    if (ts.isIndexSignatureDeclaration(member)) additionalProperties = ofType(member.type, isClosed);
    if (!ts.isPropertySignature(member) || !member.type || !ts.isStringLiteral(member.name)) continue;
    properties[member.name.text] = ofType(member.type, isClosed);
    if (!member.questionToken) required.push(member.name.text);
  }
  // kubeconform reads draft 4, where an empty list is not one of names.
  return { type: 'object', properties, ...(required.length > 0 && { required }), additionalProperties };
}

const run = promisify(execFile);
/** The cache is rebuilt when one of these changes. */
const MAKERS = ['provide-schemas.ts'];

/** The versions of Kubernetes whose objects are checked. */
export const KUBERNETES = ['1.35.0', '1.36.0', '1.37.0'];
/** A Python package that carries what those versions publish, without other fields (strict). */
const CARRIER = {
  name: 'kubernetes-validate==1.37.0',
  sha256: '85136d018a27b50ec7fc049d902bfa5193f5976807e6c0f408e3ab6fe078cad9',
  definitions: (version: string) =>
    `kubernetes_validate/kubernetes-json-schema/v${version}-local-strict/_definitions.json`,
};
/** Go modules of operators that carry the definitions of their kinds. */
const OPERATORS = {
  'sigs.k8s.io/gateway-api@v1.6.1': 'config/crd/standard',
  'github.com/cloudnative-pg/cloudnative-pg@v1.30.0': 'config/crd/bases',
  'github.com/cloudnative-pg/plugin-barman-cloud@v0.14.0': 'config/crd/bases',
  'github.com/kedacore/keda/v2@v2.18.0': 'config/crd/bases',
  'github.com/external-secrets/external-secrets@v0.16.2': 'config/crds/bases',
  'github.com/prometheus-operator/prometheus-operator@v0.93.0': 'example/prometheus-operator-crd',
};
/** An npm package that carries Strimzi's kinds, which Strimzi itself has in no registry. */
const STRIMZI = {
  name: '@kubernetes-models/strimzi-kafka-operator@1.0.1',
  sha256: 'c788ada6f1ecb48a4283636fca659b80e77dae2cc89eda1972bb802d900039ca',
  group: 'kafka.strimzi.io',
  version: 'v1',
  kinds: ['Kafka', 'KafkaNodePool', 'KafkaTopic', 'KafkaUser'],
};
const DEFINITIONS = 'definitions.json';
/** Of an operator's kind, which says nothing about it: any version's. */
const METADATA: Schema = {
  $ref: `../../../v${KUBERNETES.at(-1)}/${DEFINITIONS}#/$defs/io.k8s.apimachinery.pkg.apis.meta.v1.ObjectMeta`,
};

/**
 * Where kubeconform finds strict schemas of every kind of Kubernetes and of the operators: fetched once into the cache.
 * @throws Error naming the remedy
 */
export async function provideSchemas(): Promise<string[]> {
  const made = createHash('sha256');
  for (const file of MAKERS) made.update(readFileSync(join(import.meta.dirname, file)));
  const folder = join(CACHE, 'kubernetes-schemas', made.digest('hex').slice(0, 12));
  const locations = ['{{ .NormalizedKubernetesVersion }}', 'operators'].map((part) =>
    join(folder, part, '{{ .Group }}', '{{ .ResourceAPIVersion }}', '{{ .ResourceKind }}.json'),
  );
  const remedy =
    'The schemas of Kubernetes and of operators could not be fetched: install Python with pip, and Go, and let them and npm reach their registries.';
  await makeOnce(folder, remedy, async (unfinished) => {
    await writeKubernetes(unfinished);
    await writeOperators(unfinished);
    await writeStrimzi(unfinished);
    return unfinished;
  });
  return locations;
}

async function writeKubernetes(folder: string): Promise<void> {
  const pip = ['-m', 'pip', 'download', '--quiet', '--disable-pip-version-check', '--no-deps', '--dest', folder];
  await run('python3', [...pip, CARRIER.name]);
  const [wheel = ''] = globSync('*.whl', { cwd: folder });
  const bytes = readPinned(join(folder, wheel), CARRIER);
  for (const version of KUBERNETES) {
    const { $defs } = JSON.parse(readEntry(bytes, CARRIER.definitions(version)).toString()) as {
      $defs: Record<string, Schema>;
    };
    write(join(folder, `v${version}`, DEFINITIONS), { $defs });
    for (const [name, { 'x-kubernetes-group-version-kind': kinds = [] }] of Object.entries($defs))
      for (const { group, version: ofGroup, kind } of kinds)
        // kubeconform takes the version of kinds without a group for one
        write(join(folder, `v${version}`, group || ofGroup, ofGroup, `${kind.toLowerCase()}.json`), {
          $ref: `../../${DEFINITIONS}#/$defs/${name}`,
        });
  }
  rmSync(join(folder, wheel));
}

async function writeOperators(folder: string): Promise<void> {
  const { stdout } = await run('go', ['mod', 'download', '-json', ...Object.keys(OPERATORS)]);
  const modules = JSON.parse(`[${stdout.replaceAll(/^\}\s*\{$/gm, '},{')}]`) as Module[];
  for (const { Path, Version, Dir } of modules) {
    const crds = OPERATORS[`${Path}@${Version}` as keyof typeof OPERATORS];
    for (const file of globSync('*_*.yaml', { cwd: join(Dir, crds) }))
      for (const document of parseAllDocuments(readFileSync(join(Dir, crds, file), 'utf8'))) {
        const { kind, spec } = document.toJS() as Definition;
        if (kind !== 'CustomResourceDefinition') continue;
        for (const { name, schema } of spec.versions)
          writeKind(folder, spec.group, name, spec.names.kind, strictSchema(schema.openAPIV3Schema));
      }
  }
}

async function writeStrimzi(folder: string): Promise<void> {
  const { stdout } = await run('npm', ['pack', '--silent', STRIMZI.name], { cwd: folder });
  const archive = stdout.trim();
  readPinned(join(folder, archive), STRIMZI);
  const types = `package/${STRIMZI.group}/${STRIMZI.version}`;
  await run('tar', ['-xzf', archive, types], { cwd: folder });
  for (const kind of STRIMZI.kinds) {
    const text = readFileSync(join(folder, types, `${kind}.d.ts`), 'utf8');
    writeKind(folder, STRIMZI.group, STRIMZI.version, kind, schemaOfInterface(text, `I${kind}`));
  }
  for (const each of [archive, 'package']) rmSync(join(folder, each), { recursive: true });
}

function readPinned(file: string, { name, sha256 }: { name: string; sha256: string }): Buffer {
  const bytes = readFileSync(file);
  if (createHash('sha256').update(bytes).digest('hex') !== sha256)
    throw new Error(`${name} does not match its checksum: do not use it.`);
  return bytes;
}

function writeKind(folder: string, group: string, version: string, kind: string, schema: Schema): void {
  const properties = { ...schema.properties, metadata: METADATA };
  write(join(folder, 'operators', group, version, `${kind.toLowerCase()}.json`), { ...schema, properties });
}

function write(file: string, content: Schema): void {
  mkdirSync(dirname(file), { recursive: true });
  writeFileSync(file, JSON.stringify(content));
}

type Module = Record<'Path' | 'Version' | 'Dir', string>;

interface Definition {
  kind: string;
  spec: { group: string; names: { kind: string }; versions: { name: string; schema: { openAPIV3Schema: Schema } }[] };
}
