/** A moment in a file's name, UTC: 20261130-021542. Sorts by time, and every system takes it. */
export const fileStamp = (at: number): string =>
  new Date(at).toISOString().slice(0, 19).replace(/[-:]/g, '').replace('T', '-')
