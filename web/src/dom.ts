// Elements are made here and nowhere from markup, so that text from a trace stays text.

type Child = Node | string | null | undefined | false;
type Attributes = Readonly<Record<string, string | number | boolean | undefined>>;

export function element<K extends keyof HTMLElementTagNameMap>(
  tag: K,
  attributes: Attributes = {},
  ...children: Child[]
): HTMLElementTagNameMap[K] {
  const made = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) {
    if (value === undefined || value === false) continue;
    made.setAttribute(name, value === true ? '' : String(value));
  }
  append(made, children);
  return made;
}

function append(parent: Element, children: readonly Child[]): void {
  for (const child of children) if (child != null && child !== false) parent.append(child);
}

export function button(label: string, attributes: Attributes, action: (event: MouseEvent) => void): HTMLButtonElement {
  const made = element('button', { type: 'button', ...attributes }, label);
  made.addEventListener('click', action);
  return made;
}

const LONGEST_TITLE = 1000;

const STEERING =
  /[\u0000-\u001f\u007f-\u009f\u00ad\u061c\u180e\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufeff\ufff9-\ufffb]/g;

/** Characters that would break lines, hide, or reorder the text around them, made visible. */
export function visible(text: string): string {
  return text.replace(STEERING, (c) => {
    const code = c.charCodeAt(0);
    return code < 0x20 ? String.fromCharCode(0x2400 + code) : code === 0x7f ? '\u2421' : '\ufffd';
  });
}

/** At most so many characters, cut in the middle. */
export function shorten(text: string, length: number): string {
  if (text.length <= length) return text;
  const tail = Math.floor((length - 1) / 3);
  const head = [...text.slice(0, length - tail)].slice(0, -1).join('');
  return `${head}\u2026${text.slice(text.length - tail).replace(/^[\udc00-\udfff]/, '')}`;
}

export function setHover(target: HTMLElement, text: string): void {
  target.title = shorten(text, LONGEST_TITLE);
}

let announcer: HTMLElement | null = null;

/** Says something to a screen reader, and to everybody else for a moment. */
export function announce(text: string): void {
  announcer ??= document.body.appendChild(element('div', { class: 'toast', role: 'status' }));
  announcer.textContent = text;
  announcer.classList.add('is-shown');
  setTimeout(() => announcer?.classList.remove('is-shown'), 1800);
}

export async function copy(text: string, done: string): Promise<void> {
  try {
    await navigator.clipboard.writeText(text);
  } catch {
    // Pages opened from a file may have no clipboard; an edit field does.
    const field = document.body.appendChild(element('textarea', { class: 'offscreen', 'aria-hidden': 'true' }));
    field.value = text;
    field.select();
    document.execCommand('copy');
    field.remove();
  }
  announce(done);
}

export function save(name: string, url: string): void {
  element('a', { href: url, download: name }).click();
}
