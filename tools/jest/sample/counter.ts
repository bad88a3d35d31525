let counted = 0;

export const count = (): number => (counted += 1);
