/** The text of an operation, with the types of its result and variables, which exist only for the compiler. */
export type Document<Result, Variables> = string & { readonly types?: (variables: Variables) => Result };
