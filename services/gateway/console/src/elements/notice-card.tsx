import { useEffect, useState } from 'preact/hooks';
import { Icon } from './icon.tsx';

export interface Notice {
  id: number;
  text: string;
  /** A problem stays until it is dismissed. */
  isProblem?: boolean;
  action?: { label: string; run: () => void } | undefined;
}

const SHOWN_MS = 8_000;

export function NoticeCard({ notice, onEnd }: { notice: Notice; onEnd: (id: number) => void }) {
  const { id, text, isProblem = false, action } = notice;
  const [isHeld, setIsHeld] = useState(false);
  useEffect(() => {
    if (isProblem || isHeld) return undefined;
    const timer = setTimeout(() => onEnd(id), SHOWN_MS);
    return () => clearTimeout(timer);
  }, [id, isProblem, isHeld, onEnd]);
  const hold = () => setIsHeld(true);
  const release = () => setIsHeld(false);
  return (
    <div
      class={['notice', isProblem && 'problem', action && 'brief'].filter(Boolean).join(' ')}
      onPointerEnter={hold}
      onPointerLeave={release}
      onFocusIn={hold}
      onFocusOut={release}
    >
      <span>{text}</span>
      {action && (
        <button
          type="button"
          onClick={() => {
            onEnd(id);
            action.run();
          }}
        >
          {action.label}
        </button>
      )}
      <button type="button" class="quiet bare" aria-label="Dismiss" onClick={() => onEnd(id)}>
        <Icon name="cross" />
      </button>
    </div>
  );
}
