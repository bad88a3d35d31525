import { Ajv2020 } from 'ajv/dist/2020.js';
import { schemaOfInterface } from './support/types-schema.ts';

const TEXT = `
export interface IOther { "a": string }
export interface IPart {
  "metadata"?: IObjectMeta;
  "spec": {
    /** How many. */
    "replicas": number;
    "kind"?: "one" | "two";
    "on"?: boolean;
    "free"?: {};
    "any"?: any;
    "labels"?: { [key: string]: string };
    "list"?: Array<{ "name": string }>;
    "either"?: { "a"?: string; "b"?: { "c"?: string; "d"?: string } } & ({ "a": any } | { "b": { "c": any } });
  };
}`;

describe('the schema of an interface', () => {
  const isValid = new Ajv2020({ strict: false }).compile(schemaOfInterface(TEXT, 'IPart'));

  it.each([
    { kind: 'one', on: true, free: { a: 1 }, any: 1, labels: { a: '' }, list: [{ name: '' }] },
    { either: { a: '' } },
    { either: { b: { c: '', d: '' } } },
  ])('takes %j', (spec) => expect(isValid({ metadata: {}, spec: { replicas: 1, ...spec } })).toBe(true));

  it.each([
    { replicas: '1' },
    { kind: 'three' },
    { on: 'yes' },
    { labels: { a: 1 } },
    { list: [{}] },
    { list: [{ name: '', typo: 1 }] },
    { either: { b: { d: '' } } },
    { either: { a: '', c: '' } },
    { typo: 1 },
  ])('refuses %j', (spec) => expect(isValid({ spec: { replicas: 1, ...spec } })).toBe(false));

  it('refuses what is missing, an unknown interface and an unknown type', () => {
    expect(isValid({ spec: {} })).toBe(false);
    expect(() => schemaOfInterface(TEXT, 'INone')).toThrow('There is no interface INone.');
    expect(() => schemaOfInterface('interface I { "a": never }', 'I')).toThrow('This type is not known: NeverKeyword.');
  });
});
