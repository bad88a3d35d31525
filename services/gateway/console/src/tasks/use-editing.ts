import type { LiveTask } from '@taskmesh/client';
import { useCallback, useState } from 'preact/hooks';
import { useLeaveGuard } from '../elements/use-leave-guard.ts';
import { changesOf, draftOf, type Draft } from './draft.ts';
import type { Edits } from './use-edits.ts';

export interface Editing {
  /** The task that is edited, as it was when that began; at most one at a time. */
  base: LiveTask;
  draft: Draft;
}

/** The editor's state is kept outside of its row, which may go, or move, while somebody types. */
export function useEditing({ save }: Edits) {
  const [editing, setEditing] = useState<Editing>();
  const isChanged = editing !== undefined && Object.keys(changesOf(editing.base, editing.draft)).length > 0;
  useLeaveGuard(isChanged);

  const begin = useCallback((base: LiveTask) => setEditing({ base, draft: draftOf(base) }), []);
  const end = useCallback(() => setEditing(undefined), []);
  return {
    editing,
    isChanged,
    begin,
    end,
    change: (draft: Draft) => setEditing((before) => before && { ...before, draft }),
    save() {
      if (!editing) return;
      const { base, draft } = editing;
      if (isChanged) save({ base, changes: changesOf(base, draft) });
      end();
    },
  };
}
