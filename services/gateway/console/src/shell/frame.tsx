import type { ComponentChildren, ComponentType } from 'preact';
import { useEffect, useRef } from 'preact/hooks';
import { Icon, type IconName } from '../elements/icon.tsx';
import { useEndOfNotices } from '../elements/notices.tsx';
import { Brand, useTitle } from '../elements/view.tsx';

export interface ViewEntry<Props = object> {
  /** The name in the address: `#/<name>`. */
  name: string;
  title: string;
  icon: IconName;
  Component: ComponentType<Props>;
}

type Named = Omit<ViewEntry, 'Component'>;

export interface FrameProps {
  /** The link of the brand. */
  home: { href: string; 'aria-label': string };
  /** The views in the order of the navigation. */
  views: readonly Named[];
  view: Named;
  /** Returns the address of a view, with its last parameters. */
  addressOf: (name: string) => string;
  /** The signed-in user and the sign-out button. */
  who: ComponentChildren;
  isWide?: boolean;
  children: ComponentChildren;
}

/** The header, the navigation and the main content around each view. */
export function Frame({ home, views, view, addressOf, who, isWide, children }: FrameProps) {
  const main = useFocusOnChange(view.name);
  useEndOfNotices(view.name);
  useTitle(view.title);
  // Following the anchor would change the fragment, which names the view.
  const skip = (event: Event) => {
    event.preventDefault();
    main.current?.focus();
  };
  return (
    <>
      <a class="skip" href="#main" onClick={skip}>
        Skip to the content
      </a>
      <header class="header">
        <a class="home" {...home}>
          <Brand />
        </a>
        <nav aria-label="Views">
          <ul>
            {views.map(({ name, title, icon }) => (
              <li key={name}>
                <a href={addressOf(name)} aria-current={name === view.name ? 'page' : undefined}>
                  <Icon name={icon} />
                  {title}
                </a>
              </li>
            ))}
          </ul>
        </nav>
        <div class="who">{who}</div>
      </header>
      <main id="main" class={isWide ? 'wide' : undefined} ref={main} tabIndex={-1}>
        {children}
      </main>
    </>
  );
}

/** Moves the focus to a newly opened view, but not when the page loads. Returns the ref of the content. */
function useFocusOnChange(name: string) {
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
