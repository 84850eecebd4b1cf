// A chart on the page: made by ECharts when it comes into view, redrawn with the theme and the width, saved as PNG.

import { BarChart } from 'echarts/charts';
import { DataZoomComponent, GridComponent, LegendComponent, TooltipComponent } from 'echarts/components';
import * as echarts from 'echarts/core';
import type { BarSeriesOption } from 'echarts/charts';
import type {
  DataZoomComponentOption,
  GridComponentOption,
  LegendComponentOption,
  TooltipComponentOption,
} from 'echarts/components';
import { CanvasRenderer } from 'echarts/renderers';
import { button, element, save, visible } from './dom';
import { ink, onTheme, type Ink } from './theme';

echarts.use([BarChart, GridComponent, TooltipComponent, LegendComponent, DataZoomComponent, CanvasRenderer]);

export type ChartOption = echarts.ComposeOption<
  | BarSeriesOption
  | GridComponentOption
  | TooltipComponentOption
  | LegendComponentOption
  | DataZoomComponentOption
>;

export interface Chart {
  readonly title: string;
  readonly summary: string; // for those who do not see it
  height(width: number): number;
  option(ink: Ink, width: number): ChartOption;
}

/** What every chart has in common. Tooltips are drawn, not markup: the page's policy allows no markup with styles. */
function common(colors: Ink): ChartOption {
  const text = { color: colors.text, fontFamily: colors.font, fontSize: 12 };
  return {
    animation: false,
    textStyle: text,
    tooltip: {
      renderMode: 'richText',
      confine: true,
      backgroundColor: colors.panel,
      borderColor: colors.line,
      textStyle: text,
    },
  };
}

const hosts = new Set<() => void>();
onTheme(() => {
  for (const draw of hosts) draw();
});

export function chartView(chart: Chart): HTMLElement {
  const host = element('div', { class: 'canvas', role: 'img', 'aria-label': `${chart.title}. ${chart.summary}` });
  let drawn: echarts.ECharts | null = null;

  const draw = (): void => {
    const width = host.clientWidth;
    if (width === 0) return;
    const height = chart.height(width);
    host.style.height = `${height}px`;
    const colors = ink();
    drawn ??= echarts.init(host, null, { renderer: 'canvas', width, height });
    drawn.resize({ width, height });
    drawn.setOption({ ...common(colors), ...chart.option(colors, width) }, true);
  };

  const png = button('PNG', { class: 'quiet', 'aria-label': `Save the chart ${chart.title} as PNG` }, () => {
    draw();
    const name = chart.title.toLowerCase().replace(/[^a-z0-9]+/g, '-');
    if (drawn) save(`${name}.png`, drawn.getDataURL({ type: 'png', pixelRatio: 2, backgroundColor: ink().panel }));
  });

  host.style.height = `${chart.height(800)}px`;
  drawWhenSeen(host, draw);
  return element('figure', { class: 'chart' }, host, element('figcaption', {}, chart.title, png));
}

/** Charts far below cost nothing until they are scrolled to, or printed. */
function drawWhenSeen(host: HTMLElement, draw: () => void): void {
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
