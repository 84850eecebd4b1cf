declare module '*/definitions.mjs' {
  export interface Definition {
    about: string[];
    columns: Record<string, string>;
  }
  export function readDefinitions(markdown: string): Record<string, Definition>;
  export function paragraphsAbout(definitions: Record<string, Definition>, key: string): string[];
}
