// Starts the page with what it carries: a report, or the address of a server that has the traces.

import { App } from './app';
import { createExplorer } from './explore/index';
import { openSource } from './explore/open';
import { followSystem } from './theme';

followSystem();
let app: App | null = null;
const carried: unknown = JSON.parse(document.getElementById('report')?.textContent ?? '');
const { source, report, view } = openSource(carried, (isThere) => app?.heard(isThere));
const hasTimeline = source.inputs.length > 0;
app = new App(source, view, hasTimeline ? createExplorer(source, { report }) : null);
if (report) void app.showStored(report);
else if (view) void app.showLive(view);
