import { useEffect, useRef } from 'preact/hooks';

/** Moves the focus to a newly opened view, but not when the page loads. Returns the ref of the content. */
export function useFocusOnChange(name: string) {
  const main = useRef<HTMLElement>(null);
  const before = useRef(name);
  useEffect(() => {
    if (before.current === name) return;
    before.current = name;
    scrollTo(0, 0);
    main.current?.querySelector('h1')?.focus({ preventScroll: true });
  }, [name]);
  return main;
}
