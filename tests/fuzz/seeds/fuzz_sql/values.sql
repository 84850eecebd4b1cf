select x'00ff', 1e999, -9223372036854775808, '' as "a b", null from inputs
