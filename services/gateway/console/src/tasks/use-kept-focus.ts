import type { RefObject } from 'preact';
import { useLayoutEffect, useRef } from 'preact/hooks';

interface Place {
  key: string;
  index: number;
  element: HTMLElement;
}

/**
 * For a list whose rows have a `data-key`: whoever works with the keyboard stays where they are while rows come, go and
 * change places, on the same element where there still is one, else on the row that has taken the place of theirs.
 */
export function useKeptFocus(keys: readonly string[], whenEmpty: () => void): RefObject<HTMLUListElement | null> {
  const list = useRef<HTMLUListElement>(null);
  const place = useRef<Place | undefined>(undefined);

  useLayoutEffect(() => {
    const element = list.current;
    if (!element) return undefined;
    const remember = ({ target }: Event) => {
      const row = target instanceof HTMLElement && target.closest<HTMLElement>('[data-key]');
      if (!row) return;
      const index = [...element.children].indexOf(row);
      place.current = { key: row.dataset['key'] ?? '', index, element: target };
    };
    const forget = ({ target }: Event) => {
      // What is moved or taken away loses the focus, too: by the next task it has it again, or is not there.
      queueMicrotask(() => {
        const hasLeft = target instanceof Element && target.isConnected && !element.contains(document.activeElement);
        if (hasLeft) place.current = undefined;
      });
    };
    element.addEventListener('focusin', remember);
    element.addEventListener('focusout', forget);
    return () => {
      element.removeEventListener('focusin', remember);
      element.removeEventListener('focusout', forget);
    };
  }, []);

  useLayoutEffect(() => {
    if (!place.current || document.activeElement !== document.body) return;
    const { key, index, element } = place.current;
    if (element.isConnected) return element.focus();
    const rows = [...(list.current?.querySelectorAll<HTMLElement>('[data-key]') ?? [])];
    const row = rows.find(({ dataset }) => dataset['key'] === key) ?? rows[Math.min(index, rows.length - 1)];
    const next = row?.querySelector<HTMLElement>('input, button');
    if (next) return next.focus();
    place.current = undefined;
    whenEmpty();
  }, [keys.join(' ')]);

  return list;
}
