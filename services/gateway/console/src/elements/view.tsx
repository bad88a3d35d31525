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

/** For when the focused element has just been removed. */
export function focusHeading(): void {
  document.querySelector('h1')?.focus();
}

/** Sets the window's title, which tabs, bookmarks and screen readers show. */
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

/** What was read last, that it is being read for the first time, and why it could not be read. */
export function Read<Result>({ reading: { data, error, again }, children }: ReadProps<Result>) {
  return (
    <>
      {data === undefined && error === undefined && <Loading />}
      <Failure error={error} onAgain={() => void again()} />
      {data !== undefined && children(data)}
    </>
  );
}

/** Appears only after a short delay, because most answers arrive sooner. */
export function Loading({ what = 'Loading' }: { what?: string }) {
  return (
    <p class="loading" role="status">
      {what}…
    </p>
  );
}

/** Shown in place of what failed. */
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
  /** What a click runs, once at a time. */
  runs?: Action<[]>;
  /** Its text meanwhile. */
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
  /** What can be done with it. */
  deed?: { label: string; name: string; run: () => void } | false;
  children: ComponentChildren;
}

/** Something in a list, with a line about it. */
export function Row({ icon, title, label, hint, deed, children }: RowProps) {
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
      {deed && <Button text={deed.label} aria-label={deed.name} onClick={deed.run} />}
    </li>
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
