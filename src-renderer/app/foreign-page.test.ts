import { expect, it } from 'vitest'
import { withForeignTable } from '@/testing/foreign.ts'
import { makeScene } from '@/testing/scenes.ts'
import { foreignPageOf } from './foreign-page.ts'

it('stands in for the pages of tasks and workers of a table that is not ours, and for no other', () => {
  const scene = withForeignTable(makeScene('healthy', 0), 'clinic-main')
  const [own, foreign] = [
    scene.connections.find(({ profile }) => !profile),
    scene.connections.find(({ profile }) => profile)
  ]
  const names = ['overview', 'tasks', 'workers', 'alerts', 'database', 'capacity', 'type', undefined]
  const pages = (connection: typeof own): unknown[] =>
    names.flatMap((name) => foreignPageOf(connection, name)?.page ?? [])
  expect(pages(foreign)).toEqual(['tasks', 'workers', 'capacity'])
  expect(pages(own)).toEqual([])
  expect(pages(undefined)).toEqual([])
})
