// One fact of a trace: its value with a unit, and on hover the exact value and its definition.

import type { Fact } from './data';
import { setHover, visible } from './dom';
import { exact, withUnit } from './format';
import { meaningOf } from './meaning';

export function showFact(target: HTMLElement, fact: Fact): void {
  const { value, unit, key } = fact;
  target.textContent = typeof value === 'number' ? withUnit(value, unit) : visible(String(value ?? '\u2013'));
  setHover(target, [exact(value, fact), meaningOf('facts', key)].filter(Boolean).join('\n'));
}
