import type { Listener, SeenTask, StreamedChange } from './stream.ts';

/** `owner.name` belongs to another service, so each event must wait for it. */
export const CHANGES = `subscription Changes($after: String) {
  taskChanges(after: $after) {
    cursor sequence kind
    task { id title version owner { id } }
    previous { id title version owner { id } }
  }
}`;
export const CHANGES_WITH_NAMES = CHANGES.replaceAll('owner { id }', 'owner { id name }');

interface GraphqlTask {
  id: string;
  title: string;
  version: number;
  owner: { id: string; name?: string | null };
}

export interface GraphqlResult {
  data?: {
    taskChanges: {
      cursor: string;
      sequence: number;
      kind: StreamedChange['kind'];
      task: GraphqlTask;
      previous: GraphqlTask | null;
    };
  } | null;
  errors?: { message: string; extensions?: { code?: string } }[];
}

/**
 * Passes an event to the listener. Errors without data end the subscription; an event with missing fields is a failure.
 */
export function takeResult({ data, errors }: GraphqlResult, listener: Listener): void {
  if (data === undefined) return takeErrors(errors, listener);
  if (!data || errors || !isWhole(data.taskChanges))
    return listener.onFailure(`an event with a hole: ${JSON.stringify({ data, errors })}`);
  const { cursor, sequence, kind, task, previous } = data.taskChanges;
  listener.onChange({ kind, sequence, task: seen(task), previous: previous && seen(previous) });
  listener.onCursor(cursor);
}

/** Ends a subscription. The codes of the errors decide whether the client may come back, and from where. */
export function takeErrors(errors: GraphqlResult['errors'], listener: Listener): void {
  const codes = new Set(errors?.map(({ extensions }) => extensions?.code));
  if (codes.size === 1 && codes.has('CURSOR_EXPIRED')) listener.onExpired();
  else if (codes.size !== 1 || !codes.has('SERVICE_UNAVAILABLE')) listener.onFailure(JSON.stringify(errors));
  listener.onEnd();
}

const isWhole = ({ task, previous }: NonNullable<GraphqlResult['data']>['taskChanges']) =>
  [task, previous].every((each) => each === null || (each.owner !== null && each.owner.name !== null));

function seen({ id, title, version, owner }: GraphqlTask): SeenTask {
  return { id, title, version, ownerId: owner.id };
}
