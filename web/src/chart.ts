// A chart on the page: made by ECharts when it comes into view, redrawn with the theme and the width, saved as PNG.

import { BarChart, LineChart, ScatterChart } from 'echarts/charts';
import { DataZoomComponent, GridComponent, LegendComponent, TooltipComponent } from 'echarts/components';
import * as echarts from 'echarts/core';
import type { BarSeriesOption, LineSeriesOption, ScatterSeriesOption } from 'echarts/charts';
import type {
  DataZoomComponentOption,
  GridComponentOption,
  LegendComponentOption,
  TooltipComponentOption,
} from 'echarts/components';
import { CanvasRenderer } from 'echarts/renderers';
import { button, element, save, shorten, visible } from './dom';
import { linesOf, TEXT_PIXELS } from './room';
import { ink, onTheme, type Ink } from './theme';

echarts.use([
  BarChart,
  LineChart,
  ScatterChart,
  GridComponent,
  TooltipComponent,
  LegendComponent,
  DataZoomComponent,
  CanvasRenderer,
]);

export type ChartOption = echarts.ComposeOption<
  | BarSeriesOption
  | LineSeriesOption
  | ScatterSeriesOption
  | GridComponentOption
  | TooltipComponentOption
  | LegendComponentOption
  | DataZoomComponentOption
>;

export interface Chart {
  readonly title: string;
  readonly summary: string; // for those who do not see it
  readonly other?: Chart; // the same in another way, a button away
  readonly note?: string; // what is not drawn
  controls?(show: (chart: Chart) => void): readonly HTMLElement[]; // of the caption, which show another chart
  /** A click on something drawn. */
  press?(item: { readonly seriesIndex: number; readonly dataIndex: number }): void;
  height(width: number): number;
  option(ink: Ink, width: number): ChartOption;
}

/** What every chart has in common. Tooltips are drawn, not markup: the page's policy allows no markup with styles. */
function common(colors: Ink, own: ChartOption): ChartOption {
  const text = { color: colors.text, fontFamily: colors.font, fontSize: TEXT_PIXELS };
  return {
    animation: false,
    textStyle: text,
    ...own,
    tooltip: {
      renderMode: 'richText',
      confine: true,
      backgroundColor: colors.panel,
      borderColor: colors.line,
      textStyle: text,
      ...own.tooltip,
    },
  };
}

function start(host: HTMLElement, width: number, height: number): echarts.ECharts {
  const made = echarts.init(host, null, { renderer: 'canvas', width, height });
  // The wheel alone moves the page; ECharts would keep it for itself.
  host.addEventListener('wheel', (event) => !event.ctrlKey && event.stopPropagation(), { capture: true });
  host.addEventListener('dblclick', () => made.dispatchAction({ type: 'dataZoom', start: 0, end: 100 }));
  return made;
}

const hosts = new Set<() => void>();
onTheme(() => {
  for (const draw of hosts) draw();
});

export function chartView(first: Chart): HTMLElement {
  let chart = first;
  const host = element('div', { class: 'canvas', role: 'img' });
  const caption = element('span');
  const note = element('p', { class: 'chart-note' });
  let drawn: echarts.ECharts | null = null;

  const draw = (): void => {
    const width = host.clientWidth;
    if (width === 0) return;
    const height = chart.height(width);
    host.style.height = `${height}px`;
    const colors = ink();
    if (!drawn) {
      drawn = start(host, width, height);
      drawn.on('click', ({ seriesIndex = 0, dataIndex }) => chart.press?.({ seriesIndex, dataIndex }));
    }
    drawn.resize({ width, height });
    drawn.setOption(common(colors, chart.option(colors, width)), true);
  };

  const choose = (next: Chart): void => {
    chart = next;
    host.setAttribute('aria-label', `${chart.title}. ${chart.summary}`);
    caption.textContent = visible(chart.title);
    note.textContent = chart.note ?? '';
    turn?.toggleAttribute('hidden', chart !== first && chart !== other);
    turn?.setAttribute('aria-pressed', String(chart === other));
    draw();
  };

  const controls = first.controls?.(choose) ?? [];
  const { other } = first;
  const turn = other && button('Shares', { class: 'quiet' }, () => choose(chart === first ? other : first));
  const png = button('PNG', { class: 'quiet', 'aria-label': `Save the chart ${first.title} as PNG` }, () => {
    draw();
    const name = chart.title.toLowerCase().replace(/[^a-z0-9]+/g, '-');
    if (drawn) save(`${name}.png`, drawn.getDataURL({ type: 'png', pixelRatio: 2, backgroundColor: ink().panel }));
  });

  const hint = element('span', { class: 'hint' }, 'Ctrl + wheel to zoom, double-click to reset');

  host.style.height = `${first.height(800)}px`;
  choose(first);
  drawWhenSeen(host, draw);
  return element(
    'figure',
    { class: 'chart' },
    host,
    note,
    element('figcaption', {}, caption, hint, element('span', { class: 'chart-tools' }, ...controls, turn, png)),
  );
}

/** A list of charts of which one is shown, for `controls`; the first is shown first. */
export function listControl(label: string, charts: readonly (readonly [name: string, chart: Chart])[]): Chart {
  const [, first] = charts[0]!;
  if (charts.length < 2) return first;
  const whole: Chart = {
    ...first,
    controls: (show) => {
      const list = element('select', { 'aria-label': label });
      for (const [name] of charts) list.append(element('option', {}, shorten(visible(name), LIST_NAME)));
      list.addEventListener('change', () => show(list.selectedIndex > 0 ? charts[list.selectedIndex]![1] : whole));
      return [list];
    },
  };
  return whole;
}

const LIST_NAME = 60; // characters

/** Charts far below cost nothing until they are scrolled to, or printed. */
export function drawWhenSeen(host: HTMLElement, draw: () => void): void {
  let seen = false;
  const first = (): void => {
    if (!seen) {
      seen = true;
      hosts.add(draw);
      new ResizeObserver(draw).observe(host);
    }
    draw();
  };
  const watcher = new IntersectionObserver(
    (entries) => {
      if (!entries.some((entry) => entry.isIntersecting)) return;
      watcher.disconnect();
      first();
    },
    { rootMargin: '400px' },
  );
  watcher.observe(host);
  addEventListener('beforeprint', first);
}

/** Braces in a name would be read as a style of drawn text, line breaks as such. */
export function label(text: string): string {
  return visible(text).replace(/\{/g, '\u2774').replace(/\}/g, '\u2775');
}

const isTouched = matchMedia('(pointer: coarse)').matches;

/** A closer look at the values by Ctrl and the wheel; a double click shows all again. A finger scrolls the page. */
export function closerLook(): object {
  return { type: 'inside', xAxisIndex: 0, filterMode: 'none', zoomOnMouseWheel: 'ctrl', disabled: isTouched };
}

const LEGEND_SWATCH = 12;
const LEGEND_GAP = 10;
const LEGEND_LINE = TEXT_PIXELS + LEGEND_GAP;
const LEGEND_MOST_LINES = 10;
const LEGEND_NAME = 40; // characters

const legendText = (name: string): string => shorten(label(name), LEGEND_NAME);

function legendLines(names: readonly string[], width: number): number {
  return linesOf(names.map(legendText), LEGEND_SWATCH + 5 + LEGEND_GAP, width);
}

/** What a legend takes of the height of a chart. */
export function legendHeight(names: readonly string[], width: number): number {
  const lines = legendLines(names, width);
  return LEGEND_LINE * (lines > LEGEND_MOST_LINES ? 1 : lines) + LEGEND_GAP;
}

/** Names that can be switched off and on, on as many lines as they need; far too many are reached with arrows. */
export function legend(names: readonly string[], colors: Ink, width: number): LegendComponentOption {
  return {
    type: legendLines(names, width) > LEGEND_MOST_LINES ? 'scroll' : 'plain',
    top: 0,
    left: 0,
    width,
    padding: 0,
    icon: 'roundRect',
    itemWidth: LEGEND_SWATCH,
    itemHeight: LEGEND_SWATCH,
    itemGap: LEGEND_GAP,
    formatter: (name: string) => shorten(name, LEGEND_NAME),
    textStyle: { color: colors.text },
    pageTextStyle: { color: colors.muted },
    pageIconColor: colors.text,
    pageIconInactiveColor: colors.line,
    data: names.map((name) => label(name)),
  };
}
