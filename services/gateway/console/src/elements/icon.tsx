/** Paths in a viewBox of 24 by 24, drawn in the colour of the text. */
const PATHS = {
  plus: 'M12 5v14M5 12h14',
  check: 'm5 12.5 4.5 4.5L19 7.5',
  trash: 'M4 7h16M10 11v6M14 11v6M6 7l1 13h10l1-13M9 7V4h6v3',
  pencil: 'M4 20h4L19 9l-4-4L4 16zM13.5 6.5l4 4',
  calendar: 'M4 6h16v14H4zM4 10h16M8 3v4M16 3v4',
  flag: 'M6 21V4h12l-3 4 3 4H6',
  tag: 'M4 4h8l8 8-8 8-8-8zM8 8h.01',
  list: 'M9 6h11M9 12h11M9 18h11M4.5 6h.01M4.5 12h.01M4.5 18h.01',
  person: 'M12 12a4 4 0 1 0 0-8 4 4 0 0 0 0 8zM4 21c.6-4 3.6-6 8-6s7.4 2 8 6',
  devices: 'M3 5h14v10H3zM1 19h12M16 10h6v10h-6z',
  key: 'M8 16a4 4 0 1 1 3.5-6H21v4h-3v3h-3v-3h-3.5A4 4 0 0 1 8 16z',
  history: 'M4 12a8 8 0 1 0 2.5-5.8L4 8.5M4 4v4.5h4.500M12 8v4.500l3 2',
  cross: 'm6 6 12 12M18 6 6 18',
  copy: 'M9 9h11v11H9zM5 15H4V4h11v1',
  download: 'M12 4v11M7 10.5l5 5 5-5M5 20h14',
  more: 'm6 9 6 6 6-6',
  upload: 'M12 16V4.500M7 9.500l5-5 5 5M5 20h14',
  pulse: 'M3 12h4l3-7 4 14 3-7h4',
  archive: 'M4 4h16v5H4zM5.500 9v11h13V9M10 13h4',
  letter: 'M3 6h18v13H3zM3.500 6.500 12 13l8.500-6.500',
  warning: 'M12 4 2.500 20h19zM12 10v4.500M12 17.300h.01',
} as const;

export type IconName = keyof typeof PATHS;

export function Icon({ name }: { name: IconName }) {
  return (
    <svg class="icon" viewBox="0 0 24 24" aria-hidden="true" focusable="false">
      <path d={PATHS[name]} />
    </svg>
  );
}
