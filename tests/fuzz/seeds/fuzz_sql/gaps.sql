select g.cause, sum(g.gap_ns) from gaps g join ops o on g.next_id = o.id where o.device in (0, 1) group by 1
