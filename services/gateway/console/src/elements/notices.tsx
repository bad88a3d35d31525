import { createContext, type ComponentChildren } from 'preact';
import { useCallback, useContext, useEffect, useMemo, useRef, useState } from 'preact/hooks';
import { Button } from './view.tsx';

interface Notice {
  id: number;
  text: string;
  /** The id of the task that it is about. It replaces other notices about this task. */
  about?: string | undefined;
  /** Problems stay until they are dismissed. */
  isProblem?: boolean;
  action?: { label: string; run: () => void } | undefined;
}

type Notify = (notice: Omit<Notice, 'id'>) => void;

const NotifyContext = createContext<Notify>(() => {});
const EndContext = createContext(() => {});
/** With more notices, the oldest are removed; with more problems, the others follow as soon as one is dismissed. */
const MAX_NOTICES = 3;
/** An action takes longer to reach with the keyboard. */
const shownMs = ({ action }: Notice) => (action ? 20_000 : 8_000);
const TEXT_FIELDS = 'input:not([type=checkbox], [type=radio]), textarea';

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
      const others = before.filter(({ about }) => about === undefined || about !== notice.about);
      const all = [...others, { ...notice, id }];
      return [...all.filter(isProblem), ...all.filter((each) => !isProblem(each)).slice(-MAX_NOTICES)];
    });
  }, []);
  const remove = useCallback((id: number) => setNotices((before) => before.filter((each) => each.id !== id)), []);
  const end = useCallback(() => setNotices((before) => before.filter(isProblem)), []);
  const undoable = isHidden ? undefined : notices.findLast(({ action }) => action);
  useEffect(() => {
    const undo = (event: KeyboardEvent) => {
      const isKey = event.key === 'z' && (event.ctrlKey || event.metaKey);
      if (!isKey || !undoable || (event.target as Element).closest(TEXT_FIELDS)) return;
      event.preventDefault();
      remove(undoable.id);
      undoable.action?.run();
    };
    addEventListener('keydown', undo);
    return () => removeEventListener('keydown', undo);
  }, [undoable, remove]);
  /** Where the focus was before it came to the notices. */
  const origin = useRef<HTMLElement | null>(null);
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
      <div
        class="notices"
        role="status"
        aria-label="Messages"
        onFocusIn={({ currentTarget, relatedTarget: before }) => {
          if (!currentTarget.contains(before as Node | null)) origin.current = before as HTMLElement | null;
        }}
        onClick={() => origin.current?.focus({ preventScroll: true })}
      >
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
    const timer = setTimeout(() => onEnd(id), shownMs(notice));
    return () => clearTimeout(timer);
  }, [id, isProblem, isPaused, notice, onEnd]);
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
      {action && <kbd>Ctrl+Z</kbd>}
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
