/** The style sheets that the gateway's own pages share with the console, which has them in its bundle. */
export const LOOK = ['theme', 'base', 'controls', 'entrance'].map((name) => new URL(`./${name}.css`, import.meta.url));
