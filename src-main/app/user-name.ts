import { userInfo } from 'node:os'

/**
 * The operating system's name for whoever runs this process. In a container that user may have a number and no name, which `ask` (Node's own) reports as
 * an error.
 */
export function userName(ask: () => { readonly username: string } = userInfo): string {
  try {
    return ask().username
  } catch {
    return `uid-${process.getuid?.() ?? 'unknown'}`
  }
}
