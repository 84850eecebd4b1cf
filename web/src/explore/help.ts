// The keys, in a dialog.

import { button, element } from '../dom';

const HELP: readonly (readonly [string, readonly (readonly [string, string])[]])[] = [
  [
    'Move',
    [
      ['w  s', 'zoom in, zoom out'],
      ['a  d', 'earlier, later'],
      ['0', 'fit all'],
      ['Home  End', 'to the start, to the end'],
      ['Ctrl + wheel', 'zoom at the pointer'],
      ['Shift + wheel, drag', 'pan'],
    ],
  ],
  [
    'Items',
    [
      ['click', 'pin: details and arrows'],
      ['\u2190  \u2192', 'previous, next item of the row'],
      ['\u2191  \u2193', 'row above, row below'],
      ['f, double click', 'zoom to the item; f again: fit all'],
      ['Escape', 'unpin, then clear the selection'],
    ],
  ],
  [
    'Select and search',
    [
      ['drag on the axis, Shift + drag', 'select a part of the time'],
      ['m', 'select the pinned item, step or range'],
      ['/', 'find a name'],
      ['n  Shift + n', 'next, previous match (Enter in the box)'],
      ['?', 'this list'],
    ],
  ],
];

export class Help {
  readonly root: HTMLDialogElement;

  constructor() {
    const parts = HELP.map(([title, keys]) =>
      element(
        'div',
        {},
        element('h4', {}, title),
        element(
          'dl',
          {},
          ...keys.flatMap(([key, text]) => [element('dt', {}, element('kbd', {}, key)), element('dd', {}, text)]),
        ),
      ),
    );
    const close = button('Close', { class: 'quiet' }, () => this.root.close());
    this.root = element(
      'dialog',
      { class: 'explorer-help', 'aria-label': 'Keys and pointer' },
      element('h3', {}, 'Keys and pointer'),
      element('div', { class: 'explorer-help-parts' }, ...parts),
      close,
    );
    this.root.addEventListener('keydown', (event) => event.stopPropagation());
  }

  open(): void {
    if (!this.root.open) this.root.showModal();
  }
}
