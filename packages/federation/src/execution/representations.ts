import type { FetchNode, QueryPlanSelectionNode } from '@apollo/query-planner';
import { reader, type Data } from '../projection/safe-read.ts';
import { quote } from '../projection/quote.ts';
import { copyOf, merge } from './merge.ts';
import { compileRewrites, type Rewrite } from './rewrites.ts';
import type { IsOfType } from './type-conditions.ts';

/** How to represent objects of one type, so that a service can find them. */
export interface Representation {
  /** The representation as JSON; empty for an object that the service cannot be asked about. */
  write: (object: Data) => string;
  /** Reads the values that distinguish objects: equal values mean equal text. Undefined when only the text can tell. */
  read: readonly ((object: Data) => unknown)[] | undefined;
}

/** A value's JSON; empty when part of it is missing. */
type Write = (value: unknown) => string;

/** Its fragments depend only on the object's type. */
type Selection = readonly QueryPlanSelectionNode[];

export function compileRepresentations(
  { requires = [], inputRewrites }: Pick<FetchNode, 'requires' | 'inputRewrites'>,
  isOfType: IsOfType,
): (typeName: unknown) => Representation {
  const byType = new Map<unknown, Representation>();
  const write = generalWriter(requires, compileRewrites(inputRewrites, isOfType), isOfType);
  const general: Representation = { write, read: undefined };
  const typeNames = typeNameSetters(inputRewrites);

  const compileFor = (typeName: unknown): Representation => {
    const applying = fragmentsFor(requires, typeName, isOfType);
    // Fragments apply independently of each other, so several have to be merged as objects.
    const [only, ...others] = applying;
    if (!typeNames || others.length > 0 || typeof typeName !== 'string') return general;
    if (!only?.some((node) => node.kind === 'Field' && node.name === '__typename' && node.alias === undefined))
      return { write: () => '', read: undefined };
    return { write: objectWriter(only, isOfType, typeNames(typeName, isOfType)), read: leafReaders(only) };
  };

  return (typeName) => {
    let known = byType.get(typeName);
    if (!known) {
      known = compileFor(typeName);
      if (byType.size < 1_000) byType.set(typeName, known); // a service could make up names
    }
    return known;
  };
}

/** Undefined unless all fields are leaves. The type is left out, as it is the same for all. */
function leafReaders(selection: Selection): Representation['read'] {
  const fields = selection.filter((node) => node.kind === 'Field');
  if (fields.length < selection.length || fields.some(({ selections }) => selections)) return undefined;
  return fields.filter(({ name }) => name !== '__typename').map(({ alias, name }) => reader(alias ?? name));
}

/** The selections that apply to objects of this type, one per fragment. */
function fragmentsFor(selection: Selection, typeName: unknown, isOfType: IsOfType): Selection[] {
  const fields = selection.filter(({ kind }) => kind === 'Field');
  const fragments = selection.flatMap((node) =>
    node.kind === 'InlineFragment' && node.typeCondition !== undefined && isOfType(typeName, node.typeCondition)
      ? fragmentsFor(node.selections, typeName, isOfType)
      : [],
  );
  return fields.length > 0 ? [fields, ...fragments] : fragments;
}

/** How the type name is rewritten, if nothing else is; otherwise undefined. */
function typeNameSetters(
  rewrites: FetchNode['inputRewrites'] = [],
): ((typeName: string, isOfType: IsOfType) => string) | undefined {
  const setters = rewrites.flatMap((rewrite) => {
    const [step, key, ...deeper] = rewrite.path;
    if (rewrite.kind !== 'ValueSetter' || typeof rewrite.setValueTo !== 'string' || deeper.length > 0) return [];
    if (key !== '__typename' || !step?.startsWith('... on ')) return [];
    return { condition: step.slice('... on '.length), name: rewrite.setValueTo as string };
  });
  if (setters.length < rewrites.length) return undefined;
  return (typeName, isOfType) =>
    setters.reduce((name, setter) => (isOfType(name, setter.condition) ? setter.name : name), typeName);
}

/** @param typeName replaces the object's own */
function objectWriter(selection: Selection, isOfType: IsOfType, typeName?: string): (object: Data) => string {
  const fields = selection.flatMap((node, index) => {
    if (node.kind !== 'Field') return [];
    const key = node.alias ?? node.name;
    return {
      label: `${index > 0 ? ',' : '{'}${JSON.stringify(key)}:`,
      read: reader(key),
      write: fieldWriter(node, isOfType, typeName),
    };
  });
  return (object) => {
    let text = '';
    for (const { label, read, write } of fields) {
      const value = read(object);
      if (value === undefined) return '';
      const field = write(value);
      if (field === '') return '';
      text += label + field;
    }
    return `${text}}`;
  };
}

function fieldWriter(
  node: Extract<QueryPlanSelectionNode, { kind: 'Field' }>,
  isOfType: IsOfType,
  typeName?: string,
): Write {
  if (node.name === '__typename' && typeName !== undefined) {
    const text = quote(typeName);
    return () => text;
  }
  const { selections } = node;
  if (!selections) return writeLeaf;
  const isFlat = selections.every(({ kind }) => kind === 'Field');
  return nestedWriter(
    isFlat ? objectWriter(selections, isOfType) : (object) => toText(select(object, selections, isOfType)),
  );
}

function nestedWriter(write: (object: Data) => string): Write {
  const writeNested: Write = (value) => {
    if (value === null) return 'null';
    // A nested object with missing fields is sent as null.
    if (!Array.isArray(value)) return typeof value === 'object' ? write(value as Data) || 'null' : 'null';
    return `[${value.map(writeNested).join(',')}]`;
  };
  return writeNested;
}

const writeLeaf: Write = (value) => {
  if (typeof value === 'string') return quote(value);
  return JSON.stringify(value);
};

const toText = (value: unknown) => JSON.stringify(value);

/** For rare cases: several fragments on one object, and other rewrites. */
function generalWriter(
  selection: Selection,
  rewrite: Rewrite | undefined,
  isOfType: IsOfType,
): Representation['write'] {
  return (object) => {
    const representation = select(object, selection, isOfType);
    if (!representation?.__typename) return '';
    // Rewrites must not affect the object's known data.
    const copy = copyOf(representation);
    rewrite?.(copy);
    return JSON.stringify(copy);
  };
}

/** Null when a field is missing. */
function select(object: Data, selection: Selection, isOfType: IsOfType): Data | null {
  const result: Data = {};
  for (const node of selection) {
    if (node.kind === 'InlineFragment') {
      if (node.typeCondition === undefined || !isOfType(object.__typename, node.typeCondition)) continue;
      const selected = select(object, node.selections, isOfType);
      if (selected) merge(result, selected);
      continue;
    }
    const key = node.alias ?? node.name;
    const value = Object.hasOwn(object, key) ? object[key] : undefined;
    if (value === undefined) return null;
    result[key] = node.selections ? selectBelow(value, node.selections, isOfType) : value;
  }
  return result;
}

function selectBelow(value: unknown, selection: Selection, isOfType: IsOfType): unknown {
  if (Array.isArray(value)) return value.map((item) => selectBelow(item, selection, isOfType));
  return typeof value === 'object' && value !== null ? select(value as Data, selection, isOfType) : null;
}
