const digits = Array.from({ length: 10 }, (_, n) => `SELECT ${n} AS d`).join(' UNION ALL ')

/** The numbers 0 to 9,999 as `n`, a derived table: recursive queries stop at 1,000 by default on both servers. */
export const tenThousand = `SELECT a.d * 1000 + b.d * 100 + c.d * 10 + e.d AS n FROM (${digits}) a, (${digits}) b, (${digits}) c, (${digits}) e`
