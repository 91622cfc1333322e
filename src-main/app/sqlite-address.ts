/** The path in `sqlite:PATH` or `sqlite:///PATH`, as it is written; undefined for any other address. */
export const sqlitePathOf = (address: string): string | undefined =>
  /^sqlite:(.+)$/s.exec(address)?.[1]?.replace(/^\/\/(?=\/)/, '')
