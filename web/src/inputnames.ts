// Names of traces side by side: what they all begin with says nothing, so each begins where they differ.

const LEAST_COMMON = 6; // characters; a shorter beginning costs no room

/** Each name from the word on in which they differ, after a mark of what is left out; the only one whole. */
export function tellApart(names: readonly string[]): string[] {
  const [first = '', ...others] = names;
  let common = others.length === 0 ? 0 : first.length;
  for (const other of others) {
    let same = 0;
    while (same < common && first[same] === other[same]) same++;
    common = same;
  }
  const word = first.slice(0, common).search(/[^\W_]*$/); // the start of the word that differs
  return word < LEAST_COMMON ? [...names] : names.map((name) => `\u2026${name.slice(word)}`);
}
