import type { FetchNode, QueryPlanSelectionNode } from '@apollo/query-planner';
import type { FetchDeps } from './compile-fetch.ts';
import { copyOf, merge } from './merge.ts';
import { objectsAt, pathsTo, type Data, type ResultPath } from './data-paths.ts';
import type { PlannedFetch } from './plan-fetches.ts';
import { compileRewrites, renamedKeys } from './rewrites.ts';
import type { AnswerError, PlanRun } from './run.ts';
import { take, takePlaces, type Room } from '../result-size.ts';
import type { IsOfType } from './type-conditions.ts';

export type EntityLookup = ReturnType<typeof compileEntityLookup>;

type Merging = Pick<PlanRun<never>, 'data' | 'room'>;

/** The objects of one request. */
export interface RequestedEntities {
  /** For each path: the objects, and the index of each object's representation. */
  found: { targets: Data[]; places: number[] }[];
  representations: Data[];
}

/**
 * Fetches one set of fields for objects, which may be at several paths.
 * @param fetches request the same fields, each at its own path
 */
export function compileEntityLookup(fetches: readonly PlannedFetch[], node: FetchNode, { isOfType }: FetchDeps) {
  const represent = compileRepresentations(node, isOfType);
  const rewrite = compileRewrites(node.outputRewrites, isOfType);
  const keys = renamedKeys(node.outputRewrites);

  return {
    /** Collects the objects and their representations, without duplicate representations. */
    gather({ data, room }: Merging): RequestedEntities {
      const places = new Map<string, number>();
      const representations: Data[] = [];
      const found = fetches.map(({ path }) => {
        const objects = { targets: [] as Data[], places: [] as number[] };
        for (const object of objectsAt(data, path)) {
          const representation = represent(object);
          if (!representation) continue;
          const text = JSON.stringify(representation);
          take(room, text.length);
          const place = places.get(text) ?? representations.push(representation) - 1;
          places.set(text, place);
          objects.targets.push(object);
          objects.places.push(place);
        }
        return objects;
      });
      return { found, representations };
    },

    /** Merges the response into the objects. `entities` has one entry per representation. */
    receive(entities: readonly unknown[], { found }: RequestedEntities, room: Room) {
      const isTaken = new Set<number>();
      for (const { targets, places } of found) {
        for (const [index, target] of targets.entries()) {
          const position = places[index] ?? 0;
          const entity = entities[position];
          if (typeof entity !== 'object' || entity === null) continue;
          if (rewrite && !isTaken.has(position)) {
            // Some rewrites depend on the type of the object.
            (entity as Data).__typename ??= target.__typename;
            rewrite(entity);
          }
          // Copied, because later fetches may add fields to only one of the objects.
          merge(target, (isTaken.has(position) ? copyOf(entity, room) : entity) as Data);
          isTaken.add(position);
        }
      }
    },

    /** Returns a function that maps each of these errors to all paths of its object in the data; none if it concerns no object. */
    locate(errors: readonly AnswerError[], { found }: RequestedEntities, { data, room }: Merging) {
      const failed = new Set<unknown>(errors.map(({ path }) => path?.[1]));
      const pathsOf = new Map<unknown, ResultPath[]>();
      for (const [way, { targets, places }] of found.entries()) {
        const wanted = new Map<unknown, number>();
        for (const [index, target] of targets.entries()) {
          const place = places[index];
          if (place !== undefined && failed.has(place)) wanted.set(target, place);
        }
        // An object may be at several paths, and has failed at all of them.
        for (const [target, paths] of pathsTo(wanted, data, fetches[way]?.path ?? [])) {
          const place = wanted.get(target);
          const known = pathsOf.get(place);
          if (!known) pathsOf.set(place, paths);
          else for (const path of paths) known.push(path);
        }
      }
      return (error: AnswerError): ResultPath[] => {
        const [place, ...below] = (error.path ?? []).slice(1);
        const rest = below.map((key) => keys.get(key) ?? key);
        const paths = pathsOf.get(place) ?? [];
        takePlaces(room, paths, error);
        return paths.map((at) => [...at, ...rest]);
      };
    },
  };
}

/** Returns the representation by which a service identifies an object; undefined if the service cannot resolve the object. */
type Represent = (object: Data) => Data | undefined;

/** Fragments in it depend only on the object's type. */
type Selection = readonly QueryPlanSelectionNode[];

function compileRepresentations(
  { requires = [], inputRewrites }: Pick<FetchNode, 'requires' | 'inputRewrites'>,
  isOfType: IsOfType,
): Represent {
  const rewrite = compileRewrites(inputRewrites, isOfType);
  return (object) => {
    const representation = select(object, requires, isOfType);
    if (!representation?.__typename) return undefined;
    rewrite?.(representation);
    return representation;
  };
}

/** Copies the selected fields, because later responses modify the data. Null if a field is missing. */
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
    result[key] = node.selections ? selectBelow(value, node.selections, isOfType) : copyOf(value);
  }
  return result;
}

function selectBelow(value: unknown, selection: Selection, isOfType: IsOfType): unknown {
  if (Array.isArray(value)) return value.map((item) => selectBelow(item, selection, isOfType));
  return typeof value === 'object' && value !== null ? select(value as Data, selection, isOfType) : null;
}
