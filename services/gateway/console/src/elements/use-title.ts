import { useEffect } from 'preact/hooks';

/** Sets the window's title, which tabs, bookmarks and screen readers show. */
export function useTitle(title: string): void {
  useEffect(() => {
    document.title = `${title} – Taskmesh`;
  }, [title]);
}
