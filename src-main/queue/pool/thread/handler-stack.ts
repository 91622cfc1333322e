import { fileURLToPath } from 'node:url'

/** Longer ones are cut: what matters is at the top. */
const longestText = 8_192
const mostLines = 12

/**
 * Where everything of ours that runs a handler is, as frames name it. In a build that is all of our code, the built-in handlers too;
 * folders of handlers are elsewhere.
 */
const here = new URL('.', import.meta.url)
const ownFolder: readonly string[] = [here.href, fileURLToPath(here)]

/** A stack as it is kept with the attempt: the message and the frames of the handler and of what it calls, not of what called it. */
export function handlerStack(stack: string, ours = ownFolder): string {
  const cut = [...ours, 'node:internal/']
  const lines = stack.slice(0, longestText).split('\n')
  const kept = lines.filter((line) => !isFrame(line) || !cut.some((part) => line.includes(part)))
  return kept.slice(0, mostLines).join('\n')
}

const isFrame = (line: string): boolean => /^\s+at /.test(line)
