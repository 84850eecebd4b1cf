// Starts the page with what it carries: a report, or the address of a server that has the traces.

import { App } from './app';
import { createExplorer } from './explore/index';
import { openSource } from './explore/open';
import { followSystem } from './theme';

followSystem();
const { source, report, view } = openSource(JSON.parse(document.getElementById('report')?.textContent ?? ''));
const hasTimeline = source.isLive || (report?.timelines?.length ?? 0) > 0;
const app = new App(source, view, hasTimeline ? createExplorer(source, { report }) : null);
if (report) void app.showStored(report);
else if (view) void app.showLive(view);
