select name, count(*), sum(dur_ns) from ops where name like '%a%' and start_ns > 10 group by name order by 3 desc limit 5
