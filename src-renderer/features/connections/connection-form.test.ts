import { describe, expect, it } from 'vitest'
import { makeScene } from '@/testing/scenes.ts'
import {
  accessIn,
  defaultAccess,
  emptyForm,
  formOf,
  invalidFields,
  mayWrite,
  toDraft,
  type ConnectionForm
} from './connection-form.ts'

const stored = makeScene('healthy', 0).connections.find((one) => one.id === 'clinic-main')!
const filled: ConnectionForm = { ...emptyForm(false), name: ' lab ', host: 'db', user: 'u', database: 'q' }

describe('connection form', () => {
  it('opens production read-only and everything else read-write', () => {
    expect(defaultAccess('production')).toBe('read-only')
    expect(defaultAccess('staging')).toBe('read-write')
  })

  it('goes back to what was chosen when it is not production after all', () => {
    expect(accessIn({ environment: 'production', tables: 'own', accessChosen: 'read-write' }, undefined)).toBe(
      'read-only'
    )
    expect(accessIn({ environment: 'staging', tables: 'own', accessChosen: 'read-write' }, undefined)).toBe(
      'read-write'
    )
    expect(accessIn({ environment: 'staging', tables: 'own', accessChosen: 'read-only' }, undefined)).toBe('read-only')
  })

  it('lets production write only where that was confirmed already', () => {
    expect(mayWrite({ environment: 'production', tables: 'own' }, stored)).toBe(false)
    expect(mayWrite({ environment: 'production', tables: 'own' }, { ...stored, accessMode: 'read-write' })).toBe(true)
    expect(
      mayWrite(
        { environment: 'production', tables: 'own' },
        { ...stored, environment: 'staging', accessMode: 'read-write' }
      )
    ).toBe(false)
  })

  it('never writes to another application’s table, and goes back to what was chosen', () => {
    const form = { environment: 'staging', accessChosen: 'read-write' } as const
    expect(accessIn({ ...form, tables: 'other' }, undefined)).toBe('read-only')
    expect(accessIn({ ...form, tables: 'own' }, undefined)).toBe('read-write')
    const watched = { ...stored, environment: 'staging', profile: { text: '{}', name: 'Jobs', table: 'jobs' } } as const
    expect(accessIn({ ...formOf(watched, true), tables: 'own' }, watched)).toBe('read-write')
  })

  it('sends a profile for another application’s table only, and misses an empty one', () => {
    const form = { ...filled, accessMode: 'read-only', profile: '{ }' } as const
    expect(toDraft({ ...form, tables: 'own' }, undefined).profile).toBeNull()
    expect(toDraft({ ...form, tables: 'other' }, undefined)).toMatchObject({ profile: '{ }', accessMode: 'read-only' })
    expect(invalidFields({ ...form, tables: 'other', profile: ' ' })).toEqual(['profile'])
    expect(invalidFields({ ...form, tables: 'own', profile: '' })).toEqual([])
  })

  it('names the fields that are missing or out of range', () => {
    expect(invalidFields(emptyForm(true))).toEqual(['name', 'host', 'user', 'database'])
    expect(invalidFields({ ...filled, port: 70_000 })).toEqual(['port'])
    expect(invalidFields({ ...filled, port: null })).toEqual(['port'])
    expect(invalidFields(filled)).toEqual([])
  })

  it('keeps passwords in the vault where there is one', () => {
    expect(emptyForm(true).keepPassword).toBe('vault')
    expect(emptyForm(false).keepPassword).toBe('session')
  })

  it('keeps the stored password when nothing was typed and the address is the same', () => {
    expect(toDraft(formOf(stored, true), stored).password).toBeNull()
  })

  it('never hands a stored password to another address or user', () => {
    const form = formOf(stored, true)
    expect(toDraft({ ...form, host: 'elsewhere' }, stored).password).toBe('')
    expect(toDraft({ ...form, user: 'root' }, stored).password).toBe('')
    expect(toDraft({ ...form, port: 3307 }, stored).password).toBe('')
  })

  it('trims what was typed and leaves the authority out without TLS', () => {
    expect(toDraft({ ...filled, ca: 'PEM' }, undefined)).toMatchObject({
      id: null,
      name: 'lab',
      mysql: { ca: '', port: 3306 }
    })
  })
})
