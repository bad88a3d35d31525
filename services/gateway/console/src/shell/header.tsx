import type { User } from '@taskmesh/client';
import { Brand } from '../elements/brand.tsx';
import { Icon } from '../elements/icon.tsx';
import { SignOut } from './sign-out.tsx';
import { VIEWS } from './views.ts';

export interface HeaderProps {
  user: User;
  /** The name of the view that is shown. */
  current: string;
  onSignOut: () => Promise<void>;
}

export function Header({ user, current, onSignOut }: HeaderProps) {
  return (
    <header class="header">
      <a class="home" href="#/tasks" aria-label="Taskmesh: to your tasks">
        <Brand />
      </a>
      <nav aria-label="Views">
        <ul>
          {VIEWS.map(({ name, title, icon }) => (
            <li key={name}>
              <a href={`#/${name}`} aria-current={name === current ? 'page' : undefined}>
                <Icon name={icon} />
                {title}
              </a>
            </li>
          ))}
        </ul>
      </nav>
      <div class="who">
        <span class="name" title={user.email}>
          {user.name}
        </span>
        <SignOut onSignOut={onSignOut} />
      </div>
    </header>
  );
}
