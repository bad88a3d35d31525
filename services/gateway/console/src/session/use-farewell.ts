import type { User } from '@taskmesh/client';
import { useLayoutEffect, useRef, useState } from 'preact/hooks';

/** Why the user is no longer signed in: the session ended unexpectedly, or the account was deleted. */
export type Farewell = 'ended' | 'deleted';

export function useFarewell(user: User | null | undefined) {
  const [farewell, setFarewell] = useState<Farewell>();
  const isExpected = useRef(false);
  const before = useRef(user);
  useLayoutEffect(() => {
    if (user) setFarewell(undefined);
    else if (before.current && !isExpected.current) setFarewell((said) => said ?? 'ended');
    isExpected.current = false;
    before.current = user;
  }, [user]);
  return {
    farewell,
    /** Call this before a sign-out by the user, which needs no explanation. */
    expectEnd: () => void (isExpected.current = true),
    /** Call this after a deletion, even if the session ended first: its end may arrive before the response to the deletion. */
    sayDeleted: () => setFarewell('deleted'),
  };
}
