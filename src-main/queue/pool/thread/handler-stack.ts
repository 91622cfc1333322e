/** Longer ones are cut: what matters is at the top. */
const longestText = 8_192
const mostLines = 12

/**
 * Where everything of ours that runs a handler is. In a build that is all of our code, the built-in handlers too; folders of
 * handlers are elsewhere.
 */
const ownFolder = new URL('.', import.meta.url).href

/** A stack as it is kept with the attempt: the message and the frames of the handler and of what it calls, not of what called it. */
export function handlerStack(stack: string, ours = ownFolder): string {
  const isForeign = (line: string): boolean =>
    !isFrame(line) || !(line.includes(ours) || line.includes('node:internal/'))
  return stack.slice(0, longestText).split('\n').filter(isForeign).slice(0, mostLines).join('\n')
}

const isFrame = (line: string): boolean => /^\s+at /.test(line)
