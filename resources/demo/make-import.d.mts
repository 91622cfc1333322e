/** CSV text with `rows` rows after the header (default 10,000), `bad` of them not importable (default 200). */
export function makeImport(rows?: number, bad?: number): string
