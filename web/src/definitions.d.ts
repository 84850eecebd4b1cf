declare module 'definitions' {
  interface Definition {
    about: string[];
    columns: Record<string, string>;
  }
  const definitions: Record<string, Definition>;
  export default definitions;
}

declare module '*/definitions.mjs' {
  export function paragraphsAbout(definitions: typeof import('definitions').default, key: string): string[];
}
