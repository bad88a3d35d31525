import { createContext, type ComponentChildren } from 'preact';
import { useCallback, useContext, useEffect, useMemo, useRef, useState } from 'preact/hooks';
import { Button } from './view.tsx';

interface Notice {
  id: number;
  text: string;
  /** Problems stay until they are dismissed. */
  isProblem?: boolean;
  action?: { label: string; run: () => void } | undefined;
}

type Notify = (notice: Omit<Notice, 'id'>) => void;

const NotifyContext = createContext<Notify>(() => {});
const EndContext = createContext(() => {});
/** With more notices, the oldest are removed; with more problems, the others follow as soon as one is dismissed. */
const MAX_NOTICES = 3;
const SHOWN_MS = 8_000;

const isProblem = (notice: Notice) => notice.isProblem === true;

/** Returns a function that shows a short message at the edge of the page. */
export function useNotify(): Notify {
  return useContext(NotifyContext);
}

/** Removes the notices of the previous view, except for problems, when the view changes. */
export function useEndOfNotices(view: string): void {
  const end = useContext(EndContext);
  const before = useRef(view);
  useEffect(() => {
    if (before.current !== view) end();
    before.current = view;
  }, [view, end]);
}

/** Hidden notices are shown, and expire, once `isHidden` is false. */
export function NoticesProvider({ isHidden = false, children }: { isHidden?: boolean; children: ComponentChildren }) {
  const [notices, setNotices] = useState<readonly Notice[]>([]);
  const count = useRef(0);
  const notify = useCallback<Notify>((notice) => {
    count.current += 1;
    const id = count.current;
    setNotices((before) => {
      const all = [...before, { ...notice, id }];
      return [...all.filter(isProblem), ...all.filter((each) => !isProblem(each)).slice(-MAX_NOTICES)];
    });
  }, []);
  const remove = useCallback((id: number) => setNotices((before) => before.filter((each) => each.id !== id)), []);
  const end = useCallback(() => setNotices((before) => before.filter(isProblem)), []);
  const shown = useMemo(() => {
    const waiting = notices.filter(isProblem).slice(MAX_NOTICES);
    const cards = notices.filter((notice) => !waiting.includes(notice));
    return [
      ...cards.map((notice) => <NoticeCard key={notice.id} notice={notice} onEnd={remove} />),
      waiting.length > 0 && <div key="waiting" class="notice problem">{`${waiting.length} more to read`}</div>,
    ];
  }, [notices, remove]);
  return (
    <NotifyContext.Provider value={notify}>
      <EndContext.Provider value={end}>{children}</EndContext.Provider>
      <div class="notices" role="status" aria-label="Messages">
        {isHidden ? null : shown}
      </div>
    </NotifyContext.Provider>
  );
}

function NoticeCard({ notice, onEnd }: { notice: Notice; onEnd: (id: number) => void }) {
  const { id, text, isProblem = false, action } = notice;
  const [isPaused, setIsPaused] = useState(false);
  useEffect(() => {
    if (isProblem || isPaused) return undefined;
    const timer = setTimeout(() => onEnd(id), SHOWN_MS);
    return () => clearTimeout(timer);
  }, [id, isProblem, isPaused, onEnd]);
  const pause = () => setIsPaused(true);
  const resume = () => setIsPaused(false);
  return (
    <div
      class={['notice', isProblem && 'problem', action && 'brief'].filter(Boolean).join(' ')}
      onPointerEnter={pause}
      onPointerLeave={resume}
      onFocusIn={pause}
      onFocusOut={resume}
    >
      <span>{text}</span>
      {action && (
        <Button
          text={action.label}
          onClick={() => {
            onEnd(id);
            action.run();
          }}
        />
      )}
      <Button icon="cross" class="quiet bare" aria-label="Dismiss" onClick={() => onEnd(id)} />
    </div>
  );
}
