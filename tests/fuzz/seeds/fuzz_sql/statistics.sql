select median(dur), percentile(dur, 99.5), stddev(dur_ns) /* all */ from ops where kind glob 'k*'
