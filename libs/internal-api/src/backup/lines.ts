import { Readable } from 'node:stream';

/** The answer to work that lasts: a JSON object on each line, the last one being the end. */
export interface Lines {
  stream: Readable;
  /** Shown when it is time again, or at once when the phase or the store is another one. */
  progress(progress: { phase: string; store?: string }): void;
  end(line: object): void;
}

const SHOWN_EVERY_MS = 100;

/** While nothing happens, the last line comes again every `repeatMs` (a blank one in front of the first): so both ends are known to live. */
export function createLines({ repeatMs }: { repeatMs: number }): Lines {
  const stream = new Readable({ read: () => undefined });
  let shown = '';
  let shownPart = '';
  let waiting: object | undefined;
  let timer: NodeJS.Timeout | undefined;

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
  // A reader that does not keep up is told nothing twice.
  const repeat = setInterval(() => stream.readableLength === 0 && push(`${shown}\n`), repeatMs);

  return {
    stream,
    progress(progress) {
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
      push(`${JSON.stringify(line)}\n`);
      if (!stream.destroyed) stream.push(null);
    },
  };
}
