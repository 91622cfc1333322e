import { userInfo } from 'node:os'

/** The operating system's name for whoever runs this process. In a container that user may have a number and no name, which Node reports as an error. */
export function userName(): string {
  try {
    return userInfo().username
  } catch {
    return `uid-${process.getuid?.() ?? 'unknown'}`
  }
}
