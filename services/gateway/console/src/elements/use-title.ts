import { useEffect } from 'preact/hooks';

/** Of the window, for tabs, bookmarks and screen readers. */
export function useTitle(title: string): void {
  useEffect(() => {
    document.title = `${title} – Taskmesh`;
  }, [title]);
}
