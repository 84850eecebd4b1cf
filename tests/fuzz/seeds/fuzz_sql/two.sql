select * from ops natural join calls; delete from ops
