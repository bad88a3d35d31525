import type { User } from '@taskmesh/client';
import { Brand } from '../elements/brand.tsx';
import { Icon } from '../elements/icon.tsx';
import { SignOut, type SignOutProps } from './sign-out.tsx';
import { VIEWS } from './views.ts';

export interface HeaderProps extends SignOutProps {
  user: User;
  /** The name of the current view. */
  current: string;
  /** The address of a view, with the parameters that it had. */
  addressOf: (name: string) => string;
}

export function Header({ user, current, addressOf, ...signOut }: HeaderProps) {
  return (
    <header class="header">
      <a class="home" href="#/tasks" aria-label="Taskmesh: to your tasks">
        <Brand />
      </a>
      <nav aria-label="Views">
        <ul>
          {VIEWS.map(({ name, title, icon }) => (
            <li key={name}>
              <a href={addressOf(name)} aria-current={name === current ? 'page' : undefined}>
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
        <SignOut {...signOut} />
      </div>
    </header>
  );
}
