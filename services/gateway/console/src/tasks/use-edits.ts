import {
  TaskmeshError,
  type CreateTaskInput,
  type RefusedWrite,
  type Task,
  type UpdateTaskInput,
} from '@taskmesh/client';
import { useCallback, useEffect, useMemo, useState } from 'preact/hooks';
import { useClient } from '../client-context.ts';
import { useNotify } from '../elements/notices.tsx';
import { explain } from '../requests/explain.ts';
import { useLeaveGuard } from '../elements/use-leave-guard.ts';
import type { Conflict } from './conflict.ts';
import { conflictOf, createTaskReader, saveEdit, type Edit } from './save-edit.ts';

export type Edits = ReturnType<typeof useEdits>;

/** With these, a deletion is not needed: there is no such task, or it was changed since and is worth keeping. */
const NOT_NEEDED = new Set(['NOT_FOUND', 'NOT_CREATED', 'PRECONDITION_FAILED']);

/** Changes to tasks. They are shown at once; a later failure is reported in the view that is open by then. */
export function useEdits() {
  const client = useClient();
  const notify = useNotify();
  const [conflicts, setConflicts] = useState<readonly Conflict[]>([]);
  const reader = useMemo(() => createTaskReader(client), [client]);
  useLeaveGuard(conflicts.length > 0);
  useLeaveGuard(true, () => reader.waiting() > 0);

  const addConflict = useCallback((conflict: Conflict | undefined) => {
    if (conflict) setConflicts((before) => [...before, conflict]);
  }, []);
  const notifyProblem = useCallback(
    (what: string, error: unknown) => notify({ text: `${what}: ${explain(error)}`, isProblem: true }),
    [notify],
  );
  const create = useCallback(
    (input: CreateTaskInput) => {
      client.createTask(input).catch((error: unknown) => notifyProblem(`“${input.title}” was not added`, error));
    },
    [client, notifyProblem],
  );
  const save = useCallback(
    (edit: Edit) => {
      saveEdit(client, reader, edit).then(addConflict, (error: unknown) =>
        notifyProblem(`Your change of “${edit.base.title}” was not saved`, error),
      );
    },
    [client, reader, addConflict, notifyProblem],
  );

  useEffect(() => {
    const takeRefused = async (write: RefusedWrite) => {
      const { kind, input, error } = write;
      if (kind === 'delete') {
        if (NOT_NEEDED.has(error.code)) return;
        return notifyProblem('A task was not deleted', error);
      }
      const title = input.title ?? 'a task';
      if (kind === 'create') return notifyProblem(`“${title}” was not added`, error);
      const conflict = await conflictOf(reader, write);
      if (conflict && (!conflict.theirs || conflict.clashes.length > 0)) addConflict(conflict);
      else if (!conflict) notifyProblem(`An earlier change of ${title} was not saved`, error);
    };
    return client.onRefused((write) => {
      takeRefused(write).catch((error: unknown) => notifyProblem('An earlier change was not saved', error));
    });
  }, [client, reader, addConflict, notifyProblem]);

  return useMemo(
    () => ({
      /** Changes that need a decision. */
      conflicts,
      /** The number of changes that wait for the task's current state, to be merged with it. */
      merging: reader.waiting,
      create,
      /** Sets these fields unconditionally, even if the task has been changed elsewhere. */
      set(task: Task, changes: UpdateTaskInput) {
        client
          .updateTask(task.id, changes)
          .catch((error: unknown) => notifyProblem(`“${task.title}” was not changed`, error));
      },
      save,
      remove(task: Task) {
        client.deleteTask(task.id).catch((error: unknown) => {
          const isNeeded = !(error instanceof TaskmeshError && NOT_NEEDED.has(error.code));
          if (isNeeded) notifyProblem(`“${task.title}” was not deleted`, error);
        });
        // The API cannot restore a deleted task, so undo creates a copy.
        notify({ text: `Deleted “${task.title}”.`, action: { label: 'Undo', run: () => create(contentOf(task)) } });
      },
      /** Removes the conflict from the list, and saves the chosen values, if any. */
      settle(conflict: Conflict, chosen?: UpdateTaskInput) {
        setConflicts((before) => before.filter((each) => each !== conflict));
        if (!chosen) return;
        const { theirs, base } = conflict;
        if (theirs) save({ base: theirs, changes: chosen });
        else if (base) create({ ...contentOf(base), ...withoutNull(chosen) });
        else if (chosen.title) create({ title: chosen.title, ...withoutNull(chosen) });
      },
    }),
    [client, reader, conflicts, create, save, notify, notifyProblem],
  );
}

function contentOf({ title, description, completed, dueDate, category, priority }: Task): CreateTaskInput {
  return { title, description, completed, dueDate, category, priority };
}

/** Drops a null title, which the types allow but no change has. In other fields, null means empty for new tasks too. */
function withoutNull({ title, ...others }: UpdateTaskInput): Partial<CreateTaskInput> {
  return { ...others, ...(title != null && { title }) };
}
