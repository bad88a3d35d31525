import { useMemo } from 'preact/hooks';
import { Brand } from '../../elements/brand.tsx';
import { Icon } from '../../elements/icon.tsx';
import { useEndOfNotices } from '../../elements/notices.tsx';
import { SkipLink } from '../../elements/skip-link.tsx';
import { useFocusOnChange } from '../../elements/use-focus-on-change.ts';
import { useTitle } from '../../elements/use-title.ts';
import { ApiContext } from '../api/api-context.ts';
import { createOperatorsApi } from '../api/operators-api.ts';
import type { OperatorsError } from '../api/operators-error.ts';
import { useWork, WorkContext } from '../work/use-work.ts';
import { VIEWS, viewOf } from './views.ts';

export interface OperatorsShellProps {
  token: string;
  /** The view's name in the address. */
  name: string;
  onRefused: (error: OperatorsError) => void;
  onSignOut: () => void;
}

/** The frame around all views. A long operation continues when another view is opened. */
export function OperatorsShell({ token, name, onRefused, onSignOut }: OperatorsShellProps) {
  const api = useMemo(() => createOperatorsApi({ token, onRefused }), [token]);
  const work = useWork(api);
  const view = viewOf(name);
  const main = useFocusOnChange(view.name);
  useEndOfNotices(view.name);
  useTitle(view.title);
  return (
    <ApiContext.Provider value={api}>
      <WorkContext.Provider value={work}>
        <SkipLink main={main} />
        <header class="header">
          <a class="home" href="#/operations" aria-label="Taskmesh: operations">
            <Brand />
          </a>
          <nav aria-label="Views">
            <ul>
              {VIEWS.map((each) => (
                <li key={each.name}>
                  <a href={`#/${each.name}`} aria-current={each === view ? 'page' : undefined}>
                    <Icon name={each.icon} />
                    {each.title}
                  </a>
                </li>
              ))}
            </ul>
          </nav>
          <div class="who">
            <span class="name">Operator</span>
            <button type="button" class="quiet" onClick={onSignOut}>
              Sign out
            </button>
          </div>
        </header>
        <main id="main" class="wide" ref={main} tabIndex={-1}>
          <view.Component />
        </main>
      </WorkContext.Provider>
    </ApiContext.Provider>
  );
}
