/** What the gateway's own pages look like. The console has the same style sheets in its bundle. */
export const LOOK = {
  files: {
    'look.css': ['theme', 'base', 'controls', 'entrance'].map((name) => new URL(`./${name}.css`, import.meta.url)),
  },
  pieces: { brand: new URL('./brand.html', import.meta.url) },
};
