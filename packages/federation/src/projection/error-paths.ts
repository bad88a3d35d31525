import type { Data } from '../execution/data-paths.ts';
import type { ObjectPlan, Slot } from './projection-plan.ts';

type Path = (string | number)[];

/**
 * Maps a path in the services' data to paths in the client's result. There may be several, because a field may have several
 * response keys. Fields that the client did not select are attributed to the enclosing object.
 */
export function clientPaths(plan: ObjectPlan, data: unknown, path: Path): Path[] {
  const found: Path[] = [];
  inObject(plan, data, path, [], found);
  return found;
}

function inObject(plan: ObjectPlan, data: unknown, path: Path, at: Path, found: Path[]): void {
  const [step, ...rest] = path;
  let isSeen = false;
  for (const { key, source } of plan.fields) {
    if (source.kind !== 'data' || source.from !== step) continue;
    isSeen = true;
    inSlot(source.slot, (data as Data | null | undefined)?.[step], rest, [...at, key], found);
  }
  if (!isSeen) found.push(at);
}

function inSlot({ value: plan }: Slot, data: unknown, path: Path, at: Path, found: Path[]): void {
  const [step, ...rest] = path;
  if (step === undefined || plan.kind === 'leaf') found.push(at);
  else if (plan.kind === 'list') {
    if (typeof step === 'number')
      inSlot(plan.item, (data as unknown[] | null | undefined)?.[step], rest, [...at, step], found);
    else found.push(at);
  } else {
    const object = plan.kind === 'object' ? plan.object : plan.planOf((data as Data | null | undefined)?.__typename);
    if (object) inObject(object, data, path, at, found);
    else found.push(at);
  }
}
