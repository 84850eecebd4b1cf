declare module 'definitions' {
  interface Definition {
    about: string;
    columns: Record<string, string>;
  }
  const definitions: Record<string, Definition>;
  export default definitions;
}
