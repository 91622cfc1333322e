import { execFileSync } from 'node:child_process'
import { existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { AppError, systemClock } from '../kernel/index.ts'
import { ConnectionStore, readStoredConnections, type StoredConnection } from './connection-store.ts'
import { Secrets, type SecretTarget, type SecretVault } from './secrets.ts'

let dir: string
beforeEach(() => {
  dir = mkdtempSync(join(tmpdir(), 'taskdeck-stored-'))
})
afterEach(() => rmSync(dir, { recursive: true, force: true }))

const connection = (id: string, more: Partial<StoredConnection> = {}): StoredConnection => ({
  id,
  name: id,
  environment: 'local',
  accessMode: 'read-only',
  mysql: { host: 'db', port: 3306, user: 'u', database: 'app', tls: 'required', ca: '' },
  profile: null,
  ...more
})
const code = (work: Promise<unknown>): Promise<string> =>
  work.then(
    () => 'ok',
    (error: AppError) => error.code
  )
const file = (name: string): string => join(dir, name)
const ownerOnly = (name: string): boolean =>
  process.platform === 'win32' || (statSync(file(name)).mode & 0o777) === 0o600

describe('ConnectionStore', () => {
  const open = (): Promise<ConnectionStore> => ConnectionStore.open(dir, systemClock)

  it('keeps connections in their order across runs, in a file for the user only', async () => {
    const store = await open()
    expect([store.problem, store.list()]).toEqual([null, []])
    await Promise.all([store.save(connection('a')), store.save(connection('b')), store.save(connection('c'))])
    await store.save(connection('b', { name: 'changed' }))
    await store.remove('c')
    expect((await open()).list()).toEqual([connection('a'), connection('b', { name: 'changed' })])
    expect(ownerOnly('connections.json')).toBe(true)
    expect(readdirSync(dir)).toEqual(['connections.json'])
  })

  it('takes connections of a file from before there were profiles for those of our own tables', async () => {
    await (await open()).save(connection('b', { profile: '{"format": 1}' }))
    const { profile: _none, ...older } = connection('a')
    const content = JSON.parse(readFileSync(file('connections.json'), 'utf8')) as { connections: object[] }
    writeFileSync(
      file('connections.json'),
      JSON.stringify({ ...content, connections: [older, ...content.connections] })
    )
    const store = await open()
    expect(store.problem).toBeNull()
    expect(store.list()).toEqual([connection('a'), connection('b', { profile: '{"format": 1}' })])
  })

  it('can be read beside the app: what is damaged is said and stays as it is', async () => {
    expect(await readStoredConnections(dir)).toEqual([])
    await (await open()).save(connection('a'))
    expect(await readStoredConnections(dir)).toEqual([connection('a')])
    writeFileSync(file('connections.json'), '{"version": 1, "connec')
    await expect(readStoredConnections(dir)).rejects.toMatchObject({ code: 'FILE_UNAVAILABLE' })
    expect(readdirSync(dir)).toEqual(['connections.json'])
  })

  it('writes no password, even when it is handed one', async () => {
    const store = await open()
    const withSecret = {
      ...connection('a'),
      password: 'canary',
      mysql: { ...connection('a').mysql, password: 'canary' }
    }
    await store.save(withSecret)
    expect(readFileSync(file('connections.json'), 'utf8')).not.toContain('canary')
  })

  it.each([
    ['torn', '{"version": 1, "connec'],
    ['empty', ''],
    ['of another shape', '{"version": 1, "connections": [{"id": "../x"}]}'],
    ['of a newer version', '{"version": 2, "connections": []}']
  ])('sets a file aside that is %s, says so, and goes on', async (_what, text) => {
    writeFileSync(file('connections.json'), text)
    const store = await open()
    expect(store.problem).toMatchObject({ code: 'FILE_UNAVAILABLE', kind: 'operational' })
    expect(readFileSync(String(store.problem?.details['aside']), 'utf8')).toBe(text)
    await store.save(connection('a'))
    expect((await open()).list()).toEqual([connection('a')])
  })

  it('neither waits for a pipe in its place nor writes over it', async () => {
    execFileSync('mkfifo', [file('connections.json')])
    const store = await open()
    expect(store.problem?.message).toMatch(/connections\.json cannot be used: it is not a regular file/)
    expect(await code(store.save(connection('a')))).toBe('FILE_UNAVAILABLE')
    expect(statSync(file('connections.json')).isFIFO()).toBe(true)
  })

  it('never writes over a file that it could not read', async () => {
    // A folder of that name cannot be read as a file, by root neither.
    mkdirSync(file('connections.json'))
    const store = await open()
    expect(store.problem?.code).toBe('FILE_UNAVAILABLE')
    expect(await code(store.save(connection('a')))).toBe('FILE_UNAVAILABLE')
    expect(statSync(file('connections.json')).isDirectory()).toBe(true)
  })

  it('keeps the old content, in memory and on disk, when writing fails', async () => {
    const store = await open()
    await store.save(connection('a'))
    const gone = dir
    rmSync(gone, { recursive: true })
    expect(await code(store.save(connection('b')))).toBe('FILE_UNAVAILABLE')
    expect(store.list()).toEqual([connection('a')])
  })
})

/** Reverses the text: enough to tell sealed from plain. */
class FakeVault implements SecretVault {
  persistent = true
  readonly name = 'Fake'
  readonly reason = null
  locked = false
  encrypt(text: string): Promise<Uint8Array> {
    if (this.locked) return Promise.reject(new Error('locked'))
    return Promise.resolve(Buffer.from([...text].reverse().join('')))
  }
  decrypt(bytes: Uint8Array): Promise<string> {
    if (this.locked) return Promise.reject(new Error('locked'))
    return Promise.resolve([...Buffer.from(bytes).toString()].reverse().join(''))
  }
}

describe('Secrets', () => {
  const target: SecretTarget = { host: 'db', port: 3306, user: 'u' }
  let vault: FakeVault
  const open = (from: SecretVault | null = vault): Promise<Secrets> =>
    Secrets.open(dir, { vault: from, clock: systemClock })
  beforeEach(() => {
    vault = new FakeVault()
  })

  it('keeps a password in the vault across runs, sealed', async () => {
    await (await open()).keep('a', target, { password: 'canary', place: 'vault' })
    const again = await open()
    expect([await again.place('a', target), await again.password('a', target)]).toEqual(['vault', 'canary'])
    expect(readFileSync(file('secrets.json'), 'utf8')).not.toContain('canary')
    expect(
      Buffer.from(readFileSync(file('secrets.json'))).includes(Buffer.from('canary').toString('base64').slice(0, 6))
    ).toBe(false)
    expect(ownerOnly('secrets.json')).toBe(true)
  })

  it('keeps a session password in memory only, and takes an older one out of the file', async () => {
    const secrets = await open()
    await secrets.keep('a', target, { password: 'old', place: 'vault' })
    await secrets.keep('a', target, { password: 'new', place: 'session' })
    expect([await secrets.place('a', target), await secrets.password('a', target)]).toEqual(['session', 'new'])
    expect(await (await open()).place('a', target)).toBe('missing')
  })

  it('works without any vault, for the session', async () => {
    const secrets = await open(null)
    await secrets.keep('a', target, { password: 'p', place: 'session' })
    expect(await secrets.password('a', target)).toBe('p')
    expect(existsSync(file('secrets.json'))).toBe(false)
    expect(await code(secrets.keep('a', target, { password: 'p', place: 'vault' }))).toBe('VAULT_UNAVAILABLE')
  })

  it('never writes to a vault that anyone could read', async () => {
    vault.persistent = false
    expect(await code((await open()).keep('a', target, { password: 'p', place: 'vault' }))).toBe('VAULT_UNAVAILABLE')
    expect(existsSync(file('secrets.json'))).toBe(false)
  })

  it.each([
    ['host', { ...target, host: 'evil' }],
    ['port', { ...target, port: 3307 }],
    ['user', { ...target, user: 'root' }]
  ])('gives no password to another %s, and drops it when the connection moved there', async (_what, other) => {
    const secrets = await open()
    for (const place of ['vault', 'session'] as const) {
      await secrets.keep('a', target, { password: 'p', place })
      expect([await secrets.password('a', other), await secrets.place('a', other)]).toEqual([null, 'missing'])
      await secrets.retarget('a', other)
      expect(await secrets.password('a', target)).toBeNull()
    }
  })

  it('knows an empty password from a missing one', async () => {
    const secrets = await open()
    expect(await secrets.place('a', target)).toBe('missing')
    await secrets.keep('a', target, { password: '', place: 'session' })
    expect([await secrets.place('a', target), await secrets.password('a', target)]).toEqual(['none', ''])
  })

  it('takes what cannot be decrypted for missing, and has it again when the vault opens', async () => {
    const secrets = await open()
    await secrets.keep('a', target, { password: 'p', place: 'vault' })
    vault.locked = true
    expect([await secrets.place('a', target), await secrets.password('a', target)]).toEqual(['missing', null])
    await secrets.retarget('a', target)
    vault.locked = false
    expect(await secrets.password('a', target)).toBe('p')
  })

  it.each(['session', 'vault'] as const)('forgets a password that is refused on its first use (%s)', async (place) => {
    const secrets = await open()
    await secrets.keep('a', target, { password: 'wrong', place })
    await secrets.refused('a', 'wrong')
    expect([await secrets.place('a', target), await secrets.password('a', target)]).toEqual(['missing', null])
    expect(await (await open()).place('a', target)).toBe('missing')
    await secrets.keep('a', target, { password: 'right', place })
    expect(await secrets.password('a', target)).toBe('right')
  })

  it('does not use a password of the vault again that worked before and is refused now, and keeps it there', async () => {
    const first = await open()
    await first.keep('a', target, { password: 'p', place: 'vault' })
    first.accepted('a')
    await first.refused('a', 'p')
    expect(await first.password('a', target)).toBeNull()
    expect(await (await open()).password('a', target)).toBe('p')
  })

  it('keeps a password that was given while an older one was refused', async () => {
    const secrets = await open()
    await secrets.keep('a', target, { password: 'new', place: 'session' })
    await secrets.refused('a', 'old')
    expect(await secrets.password('a', target)).toBe('new')
  })

  it('forgets for good', async () => {
    const secrets = await open()
    await secrets.keep('a', target, { password: 'p', place: 'vault' })
    await secrets.forget('a')
    expect([await secrets.place('a', target), await (await open()).place('a', target)]).toEqual(['missing', 'missing'])
  })

  it('sets a damaged file aside and goes on', async () => {
    writeFileSync(file('secrets.json'), 'x')
    const secrets = await open()
    expect(secrets.problem?.code).toBe('FILE_UNAVAILABLE')
    await secrets.keep('a', target, { password: 'p', place: 'vault' })
    expect(await (await open()).password('a', target)).toBe('p')
  })
})
