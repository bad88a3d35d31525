import type { User } from '@taskmesh/client';
import { useLayoutEffect, useRef, useState } from 'preact/hooks';

/** Why the user is no longer signed in: the session ended unexpectedly, or the account was deleted. */
export type SignOutReason = 'ended' | 'deleted';

export function useSignOutNotice(user: User | null | undefined) {
  const [signOutReason, setSignOutReason] = useState<SignOutReason>();
  const isExpected = useRef(false);
  const before = useRef(user);
  useLayoutEffect(() => {
    if (user) setSignOutReason(undefined);
    else if (before.current && !isExpected.current) setSignOutReason((reason) => reason ?? 'ended');
    isExpected.current = false;
    before.current = user;
  }, [user]);
  return {
    signOutReason,
    /** Call this before a sign-out by the user, which needs no explanation. */
    expectEnd: () => void (isExpected.current = true),
    /** Call this after a deletion, even if the session ended first: its end may arrive before the response to the deletion. */
    reportDeleted: () => setSignOutReason('deleted'),
  };
}
