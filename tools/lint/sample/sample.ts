// A project of one file, whose types are known at once: `rules.test.ts` lints other texts in its place.
export const sample = 1;
