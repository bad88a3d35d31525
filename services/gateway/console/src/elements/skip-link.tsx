import type { RefObject } from 'preact';

/** Focuses the content. A normal anchor would change the fragment, which names the view. */
export function SkipLink({ main }: { main: RefObject<HTMLElement | null> }) {
  const skip = (event: Event) => {
    event.preventDefault();
    main.current?.focus();
  };
  return (
    <a class="skip" href="#main" onClick={skip}>
      Skip to the content
    </a>
  );
}
