import { createContext, type ComponentChildren } from 'preact';
import { useCallback, useContext, useMemo, useRef, useState } from 'preact/hooks';
import { NoticeCard, type Notice } from './notice-card.tsx';

type Tell = (notice: Omit<Notice, 'id'>) => void;

const TellContext = createContext<Tell>(() => {});
/** Older ones make room. */
const MOST = 3;

/** Tells something in passing, at the edge of the page. */
export function useTell(): Tell {
  return useContext(TellContext);
}

export interface NoticesProviderProps {
  /** They wait until somebody sees them. */
  isHidden?: boolean;
  children: ComponentChildren;
}

export function NoticesProvider({ isHidden = false, children }: NoticesProviderProps) {
  const [notices, setNotices] = useState<readonly Notice[]>([]);
  const count = useRef(0);
  const tell = useCallback<Tell>((notice) => {
    count.current += 1;
    const id = count.current;
    setNotices((before) => [...before, { ...notice, id }].slice(-MOST));
  }, []);
  const remove = useCallback((id: number) => setNotices((before) => before.filter((each) => each.id !== id)), []);
  const shown = useMemo(
    () => notices.map((notice) => <NoticeCard key={notice.id} notice={notice} onEnd={remove} />),
    [notices, remove],
  );
  return (
    <TellContext.Provider value={tell}>
      {children}
      <div class="notices" role="status" aria-label="Messages">
        {isHidden ? null : shown}
      </div>
    </TellContext.Provider>
  );
}
