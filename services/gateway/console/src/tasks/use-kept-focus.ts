import type { RefObject } from 'preact';
import { useLayoutEffect, useRef } from 'preact/hooks';

interface Place {
  key: string;
  index: number;
  element: HTMLElement;
}

/**
 * Keeps the focus in a list while its rows, which have a `data-key`, are added, removed and moved: on the same element
 * while it exists, then on its row, and then on the row that took that row's place.
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
      // Moving or removing an element blurs it. By the next microtask, it is either back in the document or gone.
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
