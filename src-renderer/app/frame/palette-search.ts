import type { Command } from '@/shared/commands.ts'

export interface PaletteQuery {
  /** `>` actions only, `#` a task by id, `@` a worker, otherwise everything. */
  readonly mode: 'all' | 'actions' | 'task' | 'worker'
  readonly text: string
}

export function parseQuery(input: string): PaletteQuery {
  const modes: Record<string, PaletteQuery['mode']> = { '>': 'actions', '#': 'task', '@': 'worker' }
  const mode = modes[input[0] ?? '']
  return mode ? { mode, text: input.slice(1).trim() } : { mode: 'all', text: input.trim() }
}

/** Commands that have every word of the query in their name or detail; those whose name starts with it come first. */
export function findCommands(commands: readonly Command[], query: PaletteQuery): Command[] {
  const words = query.text.toLowerCase().split(/\s+/).filter(Boolean)
  return commands
    .filter((command) => query.mode !== 'actions' || command.group === 'do')
    .filter((command) => {
      const haystack = `${command.name} ${command.detail ?? ''}`.toLowerCase()
      return words.every((word) => haystack.includes(word))
    })
    .map((command, order) => ({ command, order, rank: rank(command, words[0] ?? '') }))
    .sort((a, b) => a.rank - b.rank || a.order - b.order)
    .map(({ command }) => command)
}

function rank(command: Command, word: string): number {
  const name = command.name.toLowerCase()
  if (word === '' || name.startsWith(word)) return 0
  return name.includes(word) ? 1 : 2
}

/** The name cut at the first hit of the query's first word, so that the hit can be marked. */
export function cutAtHit(name: string, text: string): { before: string; hit: string; after: string } {
  const word = text.split(/\s+/)[0] ?? ''
  const at = word === '' ? -1 : name.toLowerCase().indexOf(word.toLowerCase())
  if (at < 0) return { before: name, hit: '', after: '' }
  return { before: name.slice(0, at), hit: name.slice(at, at + word.length), after: name.slice(at + word.length) }
}
