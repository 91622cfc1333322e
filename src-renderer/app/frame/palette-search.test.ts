import { describe, expect, it } from 'vitest'
import type { Command } from '@/shared/commands.ts'
import { cutAtHit, findCommands, parseQuery } from './palette-search.ts'

const command = (id: string, name: string, group: Command['group'] = 'go'): Command => ({ id, name, group })

describe('palette', () => {
  it('reads the prefixes for actions, a task id and a worker', () => {
    expect(parseQuery('>dark')).toEqual({ mode: 'actions', text: 'dark' })
    expect(parseQuery('# 42 ')).toEqual({ mode: 'task', text: '42' })
    expect(parseQuery('@imp')).toEqual({ mode: 'worker', text: 'imp' })
    expect(parseQuery('over')).toEqual({ mode: 'all', text: 'over' })
  })

  it('puts names that start with the word first and needs every word', () => {
    const commands = [command('a', 'Tasks of import'), command('b', 'Import settings'), command('c', 'Workers')]
    expect(findCommands(commands, parseQuery('import')).map(({ id }) => id)).toEqual(['b', 'a'])
    expect(findCommands(commands, parseQuery('import tasks')).map(({ id }) => id)).toEqual(['a'])
  })

  it('lists only actions after >', () => {
    const commands = [command('a', 'Overview'), command('b', 'Dark theme', 'do')]
    expect(findCommands(commands, parseQuery('>')).map(({ id }) => id)).toEqual(['b'])
  })

  it('marks the hit inside the name', () => {
    expect(cutAtHit('import.Medical', 'med')).toEqual({ before: 'import.', hit: 'Med', after: 'ical' })
    expect(cutAtHit('Overview', 'x').hit).toBe('')
  })
})
