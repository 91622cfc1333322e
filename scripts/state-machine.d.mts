/** docs/state-machine.md. */
export const pageFile: string
/** What the file has to hold. */
export function statePage(): Promise<string>
