import type { LiveTask } from '@taskmesh/client';
import { useCallback, useRef, useState } from 'preact/hooks';
import { useLeaveGuard } from '../elements/use-leave-guard.ts';
import { changesOf, draftOf, type Draft } from './draft.ts';
import type { Edits } from './use-edits.ts';

export interface Open {
  /** The task as it was when editing began. */
  base: LiveTask;
  draft: Draft;
}

export type Editing = ReturnType<typeof useEditing>;

/** Lives outside of the row and the view, because both may disappear or move during editing. */
export function useEditing({ save: saveEdit }: Edits) {
  const [open, setOpen] = useState<Open>();
  const latest = useRef(open);
  latest.current = open;
  const isChanged = open !== undefined && hasChanges(open);
  useLeaveGuard(isChanged);

  const save = useCallback(() => {
    const { current } = latest;
    if (current && hasChanges(current)) {
      saveEdit({ base: current.base, changes: changesOf(current.base, current.draft) });
    }
    latest.current = undefined;
    setOpen(undefined);
  }, [saveEdit]);
  /** Opens this task, unless another is open. */
  const begin = useCallback((base: LiveTask) => {
    if (!latest.current) setOpen({ base, draft: draftOf(base) });
  }, []);
  const change = useCallback((draft: Draft) => setOpen((before) => before && { ...before, draft }), []);
  const end = useCallback(() => setOpen(undefined), []);
  return { open, isChanged, begin, change, save, end };
}

function hasChanges({ base, draft }: Open): boolean {
  return Object.keys(changesOf(base, draft)).length > 0;
}
