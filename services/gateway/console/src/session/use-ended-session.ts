import type { User } from '@taskmesh/client';
import { useLayoutEffect, useRef, useState } from 'preact/hooks';

/** Whether whoever was signed in here is no more, without having asked for it; and what says that it was asked for. */
export function useEndedSession(user: User | null | undefined): { hasEnded: boolean; expectEnd: () => void } {
  const [hasEnded, setHasEnded] = useState(false);
  const isExpected = useRef(false);
  const before = useRef(user);
  useLayoutEffect(() => {
    if (user) setHasEnded(false);
    else if (before.current) setHasEnded(!isExpected.current);
    isExpected.current = false;
    before.current = user;
  }, [user]);
  return { hasEnded, expectEnd: () => void (isExpected.current = true) };
}
