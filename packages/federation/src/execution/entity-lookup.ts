import type { FetchNode } from '@apollo/query-planner';
import type { Data } from '../projection/safe-read.ts';
import type { FetchDeps } from './compile-fetch.ts';
import type { AnswerError } from './errors.ts';
import { copyOf, merge } from './merge.ts';
import { RepresentationBatch, type BatchedObjects } from './representation-batch.ts';
import { objectsAt, pathsTo, type ResultPath } from './data-paths.ts';
import type { PlannedFetch } from './plan-fetches.ts';
import { compileRepresentations } from './representations.ts';
import { compileRewrites, renamedKeys } from './rewrites.ts';
import { isShareable } from './shareable.ts';

/** One set of fields to fetch for objects, which may be at several paths. */
export interface EntityLookup {
  /** Finds the objects, without duplicates. */
  gather(data: Data): Asked;
  /** Merges the answers into the objects. `entities` has one per representation. */
  receive(entities: readonly unknown[], asked: Asked): void;
  /** Finds where the data has each of these errors: all places of its object, or none if it is about no object. */
  locate(errors: readonly AnswerError[], asked: Asked, data: Data): (error: AnswerError) => ResultPath[];
}

/** The objects of one request. */
export interface Asked {
  found: BatchedObjects[];
  text: string;
  count: number;
}

/** @param fetches ask the same, each at its own path. @param all the plan's fetches */
export function compileEntityLookup(
  fetches: readonly PlannedFetch[],
  all: readonly PlannedFetch[],
  node: FetchNode,
  { isOfType }: FetchDeps,
): EntityLookup {
  const representationOf = compileRepresentations(node, isOfType);
  const rewrite = compileRewrites(node.outputRewrites, isOfType);
  const keys = renamedKeys(node.outputRewrites);
  const ways = fetches.map((fetch) => ({ path: fetch.path, isShareable: isShareable(fetch, all) }));

  return {
    gather(data) {
      const gathering = new RepresentationBatch(representationOf);
      const found = ways.map(({ path }) => gathering.add(objectsAt(data, path)));
      return { found, text: gathering.text, count: gathering.count };
    },

    receive(entities, { found }) {
      /** Entities that are already in use. */
      const isTaken = new Uint8Array(entities.length);
      for (const [way, { targets, places }] of found.entries()) {
        // Paths never share an entity: later fetches may add to the objects of one path only.
        const own = new Array<unknown>(entities.length);
        const mayShare = ways[way]?.isShareable === true;
        for (const [index, target] of targets.entries()) {
          const place = places[index] ?? 0;
          const entity = entities[place];
          if (typeof entity !== 'object' || entity === null) continue;
          if (rewrite && isTaken[place] === 0) {
            // Some rewrites depend on the object's type.
            (entity as Data).__typename ??= target.__typename;
            rewrite(entity);
          }
          const isFree = isTaken[place] === 0;
          isTaken[place] = 1;
          if (isFree) own[place] = entity;
          else if (!mayShare || own[place] === undefined) own[place] = copyOf(entity);
          merge(target, own[place] as Data);
        }
      }
    },

    locate(errors, { found }, data) {
      const failed = new Set<unknown>(errors.map(({ path }) => path?.[1]));
      const pathsOf = new Map<unknown, ResultPath[]>();
      for (const [way, { targets, places }] of found.entries()) {
        const wanted = new Map<unknown, number>();
        for (const [index, target] of targets.entries()) {
          const place = places[index];
          if (place !== undefined && failed.has(place)) wanted.set(target, place);
        }
        // One object may be at several places, and failed at all of them.
        for (const [target, paths] of pathsTo(wanted, data, ways[way]?.path ?? [])) {
          const place = wanted.get(target);
          const known = pathsOf.get(place);
          if (!known) pathsOf.set(place, paths);
          else for (const path of paths) known.push(path);
        }
      }
      return ({ path }) => {
        const [place, ...below] = (path ?? []).slice(1);
        const rest = below.map((key) => keys.get(key) ?? key);
        return (pathsOf.get(place) ?? []).map((at) => [...at, ...rest]);
      };
    },
  };
}
