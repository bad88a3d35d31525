// A project of a single file, which is fast to type-check: `rules.test.ts` lints other texts under its name.
export const sample = 1;
