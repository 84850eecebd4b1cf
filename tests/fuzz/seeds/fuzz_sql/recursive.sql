with recursive t(x) as (select 1 union all select x+1 from t where x < 9) select x, o.* from t join ops o on o.id = x
