import { createDice, type Dice } from '@taskmesh/testing';
import type { Subgraphs } from './world.ts';

interface Field {
  name: string;
  type: string;
  args: string;
  /** The services that own the field. */
  owners: readonly number[];
  directives: string;
  /** Whether another service provides the field. */
  isProvided?: boolean;
  /** The service that used to own the field and still defines it. */
  formerOwner?: number;
}

const SCALARS = ['String', 'Int', 'Float', 'Boolean', 'ID', 'Color', 'JSON'];
const ARGS = '(n: Int = 3, words: [String!])';
const wrappers = (type: string) =>
  ['T', 'T', 'T!', '[T]', '[T!]!', '[[T]!]', '[[[T!]]]'].map((wrapper) => wrapper.replace('T', type));

/**
 * Services that share entities, with fields that are required (with arguments), provided or overridden, and with
 * interfaces, unions, value types and mutations.
 */
export function randomSubgraphs(seed: number, { interfaceObjects = false } = {}): Subgraphs {
  const dice = createDice(seed);
  const services = [0, 1, 2].slice(0, 2 + dice.int(2));
  const entities = ['A', 'B', 'C', 'D'].slice(0, 2 + dice.int(3)).map((name) => ({ name }));
  const interfaceMembers = new Set(dice.some(entities, 2).map(({ name }) => name));
  if (interfaceMembers.size === 0) interfaceMembers.add('A');
  const twoKeys = new Set(dice.some(entities, 3).map(({ name }) => name));
  const union = entities.slice(0, 2).map(({ name }) => name);
  // All services know all entities by their keys, but resolve different fields. One service may know an interface
  // without its types.
  const objectService = interfaceObjects && dice.oneIn(2) ? services.length : undefined;
  const composites = [...entities.map(({ name }) => name), 'Node', 'Node', 'Either', 'Part', 'Part'];

  const randomType = () => {
    return dice.pick(wrappers(dice.oneIn(2) ? dice.pick(SCALARS) : dice.pick(composites)));
  };
  const randomField = (name: string): Field => ({
    name,
    type: randomType(),
    args: dice.oneIn(4) ? ARGS : '',
    owners: dice.oneIn(5) ? services : [dice.pick(services)],
    directives: '',
  });

  const fields = new Map(
    entities.map(({ name }) => [
      name,
      Array.from({ length: 3 + dice.int(5) }, (_, index) => randomField(`f${String(index)}`)),
    ]),
  );
  // A field name with different types on different objects.
  for (const { name } of entities)
    if (dice.oneIn(2))
      fields.get(name)?.push({ ...randomField('same'), type: dice.pick(['String', 'String!', 'Int', '[String]']) });
  /** For each entity, the service that requires one of its fields, and the arguments of that field. */
  const required = new Map<string, { service: number; args: string }>();
  for (const { name } of entities) {
    if (!dice.oneIn(2)) continue;
    const [owner, service] = dice.oneIn(2) ? [0, 1] : [1, 0];
    const args = dice.oneIn(2) ? ARGS : '';
    fields.get(name)?.push({ name: 'needed', type: 'String', args, owners: [owner], directives: '' });
    // Two fields of one service may require another field with different arguments.
    const needs =
      args === '' ? ['needed'] : dice.pick([['needed'], ['needed(n: 1)'], ['needed(n: 1)', 'needed(n: 2)']]);
    for (const [index, need] of needs.entries())
      fields.get(name)?.push({
        name: index === 0 ? 'made' : 'remade',
        type: dice.pick(['String', 'String!', 'Part', 'A']),
        args: '',
        owners: [service],
        directives: ` @requires(fields: "${need}")`,
      });
    required.set(name, { service, args });
  }
  const part = Array.from({ length: 3 }, (_, index) => randomField(`p${String(index)}`));
  const roots = services.map((service) =>
    Array.from({ length: 2 + dice.int(3) }, (_, index) => ({
      ...randomField(`q${String(service)}${String(index)}`),
      type: rootType(dice, composites),
    })),
  );
  const changes = services.map((service) =>
    Array.from({ length: 1 + dice.int(3) }, (_, index) => ({
      ...randomField(`m${String(service)}${String(index)}`),
      args: ARGS,
    })),
  );

  const provided = services.map((service) => {
    const entity = dice.pick(entities).name;
    const field = (fields.get(entity) ?? []).find(
      ({ name, owners, type, args, directives }) =>
        // A service does not provide what it requires: its resolvers here read required fields from representations.
        name !== 'needed' &&
        !owners.includes(service) &&
        /^\W*(String|Int|JSON)\b/.test(type) &&
        args === '' &&
        directives === '',
    );
    if (!field || dice.oneIn(2)) return undefined;
    field.isProvided = true;
    return { entity, field };
  });

  for (const { name } of entities) {
    const field = fields
      .get(name)
      ?.find((each) => /^f\d/.test(each.name) && each.owners.length === 1 && !each.isProvided);
    const [owner] = field?.owners ?? [];
    if (!field || owner === undefined || !dice.oneIn(3)) continue;
    const others = services.filter((service) => service !== owner);
    Object.assign(field, {
      formerOwner: owner,
      owners: [dice.pick(others)],
      directives: ` @override(from: "s${String(owner)}")`,
    });
  }

  const written = services.map((service) => {
    const write = (
      { name, args, type, owners, directives, isProvided = false }: Field,
      shareable = owners.length > 1 || isProvided,
    ) => `${name}${args}: ${type}${shareable ? ' @shareable' : ''}${directives}`;
    const types = entities.map(({ name }) => {
      const own = (fields.get(name) ?? [])
        .filter(({ owners }) => owners.includes(service))
        .map((field) => write(field));
      for (const field of fields.get(name) ?? [])
        if (field.formerOwner === service) own.push(write({ ...field, directives: '' }));
      const need = required.get(name);
      if (need?.service === service) own.push(`needed${need.args}: String @external`);
      const gift = provided[service];
      if (gift?.entity === name && !own.some((text) => text.startsWith(`${gift.field.name}:`)))
        own.push(`${gift.field.name}: ${gift.field.type} @external`);
      const isNode = interfaceMembers.has(name);
      // The first service knows all keys; the others may know only one.
      const keys = !twoKeys.has(name)
        ? ['id']
        : service === 0
          ? ['id', 'code']
          : isNode
            ? ['id']
            : [dice.pick(['id', 'code'])];
      const implementing = isNode ? ' implements Node' : '';
      const label = isNode ? ['label: String @shareable'] : [];
      const isStub = own.length === 0 && !isNode && dice.oneIn(2);
      // Only this service reports the second key.
      const stub = isStub && !(service === 0 && twoKeys.has(name)) ? ', resolvable: false' : '';
      const directives = keys.map((key) => `@key(fields: "${key}"${stub})`).join(' ');
      return `type ${name}${implementing} ${directives} { ${[...keys.map((key) => `${key}: ID!`), ...label, ...own].join(' ')} }`;
    });
    const gift = provided[service];
    const gifts = gift ? [`gift${String(service)}: [${gift.entity}] @provides(fields: "${gift.field.name}")`] : [];
    const sdl = `
      scalar JSON
      enum Color { RED GREEN }
      interface Node${objectService === undefined ? '' : ' @key(fields: "id")'} { id: ID! label: String }
      union Either = ${union.join(' | ')}
      type Part { ${part.map((field) => write(field, true)).join(' ')} }
      ${types.join('\n')}
      type Query { ${(roots[service] ?? []).map((field) => write(field, false)).join(' ')} ${gifts.join(' ')} shared: A @shareable }
      type Mutation { ${(changes[service] ?? []).map((field) => write(field, false)).join(' ')} }
    `;
    return [`s${service}`, sdl];
  });
  const objects = `
    type Node @interfaceObject @key(fields: "id") { id: ID! extra: Int extras: [String!] friend: Node }
    type Query { anyNode: Node nodes: [[Node!]] }
  `;
  return Object.fromEntries([...written, ...(objectService === undefined ? [] : [[`s${objectService}`, objects]])]);
}

function rootType(dice: Dice, composites: readonly string[]): string {
  return dice.pick(wrappers(dice.pick([...composites, 'String'])));
}
