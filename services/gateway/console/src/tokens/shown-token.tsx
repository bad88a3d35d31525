import { useEffect, useId, useRef, useState } from 'preact/hooks';
import { Icon } from '../elements/icon.tsx';

export interface ShownTokenProps {
  name: string;
  token: string;
  onEnd: () => void;
}

/** Shows a new token, which is never shown again. */
export function ShownToken({ name, token, onEnd }: ShownTokenProps) {
  const id = useId();
  const input = useRef<HTMLInputElement>(null);
  const [isCopied, setIsCopied] = useState(false);
  useEffect(() => {
    setIsCopied(false);
    input.current?.select();
  }, [token]);
  const copy = async () => {
    input.current?.select();
    // Pages without TLS have no clipboard, so the text is selected for copying by hand.
    await navigator.clipboard?.writeText(token).then(
      () => setIsCopied(true),
      () => undefined,
    );
  };
  return (
    <div class="shown-token" role="group" aria-labelledby={id}>
      <p id={id}>
        <strong>Your token “{name}”.</strong> Copy it now: it is shown only once.
      </p>
      <div class="line">
        <input ref={input} type="text" readOnly aria-label="The token" value={token} spellcheck={false} />
        <button type="button" onClick={() => void copy()}>
          <Icon name={isCopied ? 'check' : 'copy'} />
          {isCopied ? 'Copied' : 'Copy'}
        </button>
        <button type="button" class="quiet" onClick={onEnd}>
          I have copied it
        </button>
      </div>
    </div>
  );
}
