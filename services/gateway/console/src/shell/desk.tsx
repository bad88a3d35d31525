import type { User } from '@taskmesh/client';
import type { ComponentChildren } from 'preact';
import { useRef } from 'preact/hooks';
import { NoticesProvider } from '../elements/notices.tsx';
import { useAdding, type Adding } from '../tasks/use-adding.ts';
import { useEditing, type Editing } from '../tasks/use-editing.ts';
import { useEdits, type Edits } from '../tasks/use-edits.ts';
import type { TaskList } from '../tasks/use-task-list.ts';
import type { Overview } from './use-overview.ts';

/** What somebody has typed and has to decide on. */
export interface OnDesk {
  edits: Edits;
  editing: Editing;
  adding: Adding;
}

/** What each view is given. */
export interface ViewProps extends OnDesk {
  user: User;
  overview: Overview;
  list: TaskList;
  /** What would be lost if the session ended now, one sentence each. */
  findLosses: () => readonly string[];
  /** Called once the account is deleted. */
  onDeleted: () => Promise<void>;
}

export interface DeskProps {
  /** A message for one user is not shown to another. */
  isOpen: boolean;
  children: (desk: OnDesk) => ComponentChildren;
}

/**
 * Outlives a session that ends by itself: the same user finds everything as it was, and learns what became of their changes.
 * With another `key` it is another one's, and empty.
 */
export function Desk({ isOpen, children }: DeskProps) {
  return (
    <NoticesProvider isHidden={!isOpen}>
      <Edited>{children}</Edited>
    </NoticesProvider>
  );
}

function Edited({ children }: Pick<DeskProps, 'children'>) {
  const edits = useEdits();
  const editing = useEditing(edits);
  const adding = useAdding();
  return <>{children({ edits, editing, adding })}</>;
}

/** The desk's key: another one for another user, and for the one who comes after somebody has left. */
export function useDeskKey(user: User | null | undefined): { deskKey: number; leaveDesk: () => void } {
  const desk = useRef<{ key: number; userId: string | undefined; isLeft: boolean }>({
    key: 0,
    userId: undefined,
    isLeft: false,
  });
  const { key, userId, isLeft } = desk.current;
  const isAnothers = user ? user.id !== userId : isLeft;
  if (isAnothers) desk.current = { key: key + 1, userId: user?.id, isLeft: false };
  return { deskKey: desk.current.key, leaveDesk: () => void (desk.current.isLeft = true) };
}
