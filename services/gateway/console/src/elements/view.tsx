import type { ComponentChildren, ComponentProps } from 'preact';
import { useEffect } from 'preact/hooks';
import { explain } from '../requests/explain.ts';
import type { Action } from '../requests/use-action.ts';
import type { Reading } from '../requests/use-reading.ts';
import { Icon, type IconName } from './icon.tsx';
import { Sentence } from './times.tsx';

export function View({ title, lead, children }: { title: string; lead?: string; children: ComponentChildren }) {
  return (
    <div class="view">
      <h1 tabIndex={-1}>{title}</h1>
      {lead && <p class="lead">{lead}</p>}
      {children}
    </div>
  );
}

/** Call this after removing the focused element. */
export function focusHeading(): void {
  document.querySelector('h1')?.focus();
}

/** Sets the title of the page, which tabs, bookmarks and screen readers use. */
export function useTitle(title: string): void {
  useEffect(() => {
    document.title = `${title} – Taskmesh`;
  }, [title]);
}

export function Section({ title, children }: { title: string; children: ComponentChildren }) {
  return (
    <section class="card">
      <h2>{title}</h2>
      {children}
    </section>
  );
}

export interface ReadProps<Result> {
  reading: Reading<Result>;
  children: (data: Result) => ComponentChildren;
}

/** Renders the last result, `Loading` before the first one, and the error of a failed attempt. */
export function Read<Result>({ reading: { data, error, again }, children }: ReadProps<Result>) {
  return (
    <>
      {data === undefined && error === undefined && <Loading />}
      <Failure error={error} onAgain={() => void again()} />
      {data !== undefined && children(data)}
    </>
  );
}

/** Appears after a short delay (set in the style sheet), because most responses arrive sooner. */
export function Loading({ what = 'Loading' }: { what?: string }) {
  return (
    <p class="loading" role="status">
      {what}…
    </p>
  );
}

/** Explains why something failed, and offers to try again if `onAgain` is given. */
export function Failure({ error, onAgain }: { error: unknown; onAgain?: () => void }) {
  if (error === undefined) return null;
  return (
    <div class="failure" role="alert">
      <p>
        <Sentence text={explain(error)} />
      </p>
      {onAgain && <Button text="Try again" onClick={onAgain} />}
    </div>
  );
}

export interface ButtonProps extends ComponentProps<'button'> {
  icon?: IconName;
  text?: string;
  /** The action to run on click; the button is disabled while it runs. */
  runs?: Action<[]>;
  /** The text while the action runs. */
  busy?: string;
}

export function Button({ icon, text, runs, busy = text, ...others }: ButtonProps) {
  return (
    <button type="button" {...(runs && { disabled: runs.isBusy, onClick: () => void runs.run() })} {...others}>
      {icon && <Icon name={icon} />}
      {runs?.isBusy ? busy : text}
    </button>
  );
}

export interface RowProps {
  icon: IconName;
  title: string;
  label?: string | false;
  hint?: string | undefined;
  /** The button of the row. `name` is its accessible name. */
  action?: { label: string; name: string; run: () => void } | false;
  children: ComponentChildren;
}

/** A list item with a title and a line of details. */
export function Row({ icon, title, label, hint, action, children }: RowProps) {
  return (
    <li class="row">
      <span class="badge">
        <Icon name={icon} />
      </span>
      <div class="what">
        <p class="title" title={hint}>
          {title}
          {label && <span class="label">{label}</span>}
        </p>
        <p class="soft">{children}</p>
      </div>
      {action && <Button text={action.label} aria-label={action.name} onClick={action.run} />}
    </li>
  );
}

export interface RowActionsProps {
  /** What the buttons act on, as a part of their accessible names. */
  of: string;
  actions: (ButtonProps & { text: string })[];
}

/** The buttons of a list item. */
export function RowActions({ of, actions }: RowActionsProps) {
  return (
    <div class="actions">
      {actions.map((action) => (
        <Button key={action.text} aria-label={`${action.text.replace('…', '')} ${of}`} {...action} />
      ))}
    </div>
  );
}

export function Brand() {
  return (
    <span class="brand">
      <svg viewBox="0 0 32 32" aria-hidden="true" focusable="false">
        <rect width="32" height="32" rx="8" />
        <path d="m9 16.5 4.6 4.6L23.5 11" />
      </svg>
      Taskmesh
    </span>
  );
}
