import type { User } from '@taskmesh/client';
import type { ComponentChildren } from 'preact';
import { useRef } from 'preact/hooks';
import { NoticesProvider } from '../elements/notices.tsx';
import { useAdding, type Adding } from '../tasks/use-adding.ts';
import { useEditing, type Editing } from '../tasks/use-editing.ts';
import { useEdits, type Edits } from '../tasks/use-edits.ts';
import type { TaskList } from '../tasks/use-task-list.ts';
import type { Overview } from './use-overview.ts';

/** The user's unsaved input, and the changes that need a decision. */
export interface OnDesk {
  edits: Edits;
  editing: Editing;
  adding: Adding;
}

/** The properties of every view. */
export interface ViewProps extends OnDesk {
  user: User;
  overview: Overview;
  list: TaskList;
  /** Returns what would be lost if the session ended now, one sentence each. */
  findLosses: () => readonly string[];
  /** Call this once the account is deleted. */
  onDeleted: () => Promise<void>;
}

export interface DeskProps {
  /** Whether a user is signed in. Otherwise, notices stay hidden, because another person may be looking. */
  isOpen: boolean;
  children: (desk: OnDesk) => ComponentChildren;
}

/**
 * Outlives a session that ends unexpectedly: the same user finds everything unchanged, and sees the outcome of their changes.
 * A new `key` makes an empty desk for another user.
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

/** Returns the desk's key, which changes for another user and after a sign-out (`leaveDesk`). */
export function useDeskKey(user: User | null | undefined): { deskKey: number; leaveDesk: () => void } {
  const desk = useRef<{ key: number; userId?: string | undefined; hasSignedOut: boolean }>({
    key: 0,
    hasSignedOut: false,
  });
  const { key, userId, hasSignedOut } = desk.current;
  const isAnothers = user ? user.id !== userId : hasSignedOut;
  if (isAnothers) desk.current = { key: key + 1, userId: user?.id, hasSignedOut: false };
  return { deskKey: desk.current.key, leaveDesk: () => void (desk.current.hasSignedOut = true) };
}
