import { Readable } from 'node:stream';

/** The answer to long work: one JSON object per line, the last of which is the result. */
export interface Lines {
  stream: Readable;
  /** Throttled, but shown at once when the phase or the store changes. */
  progress(progress: { phase: string; store?: string }): void;
  end(line: object): void;
}

const SHOWN_EVERY_MS = 100;

/** Repeats the last line every `repeatMs` (a blank one before the first), so that each end knows the other is alive. */
export function createLines({ repeatMs }: { repeatMs: number }): Lines {
  const stream = new Readable({ read: () => undefined });
  let shown = '';
  let shownPart = '';
  let waiting: object | undefined;
  let timer: NodeJS.Timeout | undefined;
  let hasEnded = false;

  const push = (text: string) => {
    if (!stream.destroyed) stream.push(text);
  };
  const show = () => {
    timer = undefined;
    if (!waiting) return;
    shown = JSON.stringify({ progress: waiting });
    waiting = undefined;
    push(`${shown}\n`);
  };
  // Do not repeat lines to a reader that lags behind.
  const repeat = setInterval(() => stream.readableLength === 0 && push(`${shown}\n`), repeatMs);

  return {
    stream,
    progress(progress) {
      if (hasEnded) return; // work that was given up goes on for a while
      const part = `${progress.phase} ${progress.store ?? ''}`;
      if (part !== shownPart) show();
      waiting = progress;
      if (part !== shownPart) show();
      else timer ??= setTimeout(show, SHOWN_EVERY_MS);
      shownPart = part;
    },
    end(line) {
      clearInterval(repeat);
      clearTimeout(timer);
      show();
      hasEnded = true;
      push(`${JSON.stringify(line)}\n`);
      if (!stream.destroyed) stream.push(null);
    },
  };
}
