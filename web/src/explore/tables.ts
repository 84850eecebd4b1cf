// The drawing as tables: its rows, and the longest items of what is seen. Made when they are opened.

import { element } from '../dom';
import { arrange } from '../timeline/lanes';
import { itemsTable, rowsTable } from '../timeline/parts';
import { lengthOf } from '../timeline/span';
import type { TimelineView } from '../timeline/view';

export interface Tables {
  readonly root: HTMLElement;
  /** What they show is no longer so. */
  changed(): void;
}

export function tablesView(current: () => TimelineView | null): Tables {
  const host = element('div');
  const root = element('details', { class: 'explorer-tables' }, element('summary', {}, 'As a table'), host);
  let shown: TimelineView | null = null;
  const fill = (): void => {
    const view = current();
    if (!root.open || !view) return;
    const all = arrange(view.groups, new Map(view.groups.map(({ id }) => [id, 'all'])));
    const rows = shown === view ? host.children[1]! : rowsTable(all, lengthOf(view.home));
    shown = view;
    host.replaceChildren(
      element('h3', {}, 'Rows'),
      rows,
      element('h3', {}, 'Longest items in view'),
      itemsTable(view, view.span),
    );
  };
  root.addEventListener('toggle', fill);
  return { root, changed: fill };
}
