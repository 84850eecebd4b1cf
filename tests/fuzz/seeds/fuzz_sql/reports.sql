select "name", [total_ns], `count` from report_kernels -- comment
