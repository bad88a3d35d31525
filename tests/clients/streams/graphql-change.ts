import type { Listener, SeenTask, StreamedChange } from './stream.ts';

/** `owner.name` is another service's field: such an event has to wait for it. */
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
  owner: { id: string; name?: string };
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

/** Hands an event on. Errors end the subscription; what they say decides whether the client may come back. */
export function takeResult({ data, errors }: GraphqlResult, listener: Listener): void {
  if (errors || !data) {
    if (!isTransient(errors)) listener.onFailure(JSON.stringify(errors));
    return listener.onEnd();
  }
  const { cursor, sequence, kind, task, previous } = data.taskChanges;
  listener.onChange({ kind, sequence, task: seen(task), previous: previous && seen(previous) });
  listener.onCursor(cursor);
}

export function isTransient(errors: GraphqlResult['errors']): boolean {
  return errors?.every(({ extensions }) => extensions?.code === 'SERVICE_UNAVAILABLE') ?? false;
}

function seen({ id, title, version, owner }: GraphqlTask): SeenTask {
  return { id, title, version, ownerId: owner.id };
}
