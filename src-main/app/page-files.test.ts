import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { createPageFiles } from './page-files.ts'

let folder: string
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'taskdeck-page-'))
  mkdirSync(join(folder, 'root/assets'), { recursive: true })
  mkdirSync(join(folder, 'root-secret'))
  writeFileSync(join(folder, 'secret.js'), 'secret')
  writeFileSync(join(folder, 'root-secret/x.js'), 'secret')
  writeFileSync(join(folder, 'root/index.html'), '<meta nonce="__CSP_NONCE__"><style nonce="__CSP_NONCE__"></style>')
  writeFileSync(join(folder, 'root/assets/index-AB_c-1.js'), 'page')
  writeFileSync(join(folder, 'root/assets/notes.txt'), 'not part of the page')
  symlinkSync(join(folder, 'secret.js'), join(folder, 'root/assets/link.js'))
})
afterAll(() => rmSync(folder, { recursive: true, force: true }))
const read = async (path: string): Promise<string | undefined> => {
  const file = await createPageFiles(join(folder, 'root')).read(path)
  return file && new TextDecoder().decode(file.body)
}

describe('page files', () => {
  it('serves what the build made, with its type', async () => {
    const file = await createPageFiles(join(folder, 'root')).read('/assets/index-AB_c-1.js')
    expect(file?.headers).toMatchObject({
      'content-type': 'text/javascript; charset=utf-8',
      'x-content-type-options': 'nosniff',
      'cache-control': 'no-store'
    })
  })

  it('gives each page a nonce of its own, in the header and wherever the file asks for it', async () => {
    const files = createPageFiles(join(folder, 'root'))
    const [one, two] = [await files.read('/'), await files.read('/index.html')]
    const nonce = /'nonce-([^']+)'/.exec(one?.headers['content-security-policy'] ?? '')?.[1] ?? ''
    expect(nonce).toMatch(/^[A-Za-z0-9+/]{22}==$/)
    expect(new TextDecoder().decode(one?.body)).toBe(`<meta nonce="${nonce}"><style nonce="${nonce}"></style>`)
    expect(two?.headers['content-security-policy']).not.toBe(one?.headers['content-security-policy'])
  })

  it.each([
    '/../secret.js',
    '/assets/../../secret.js',
    '/..%2fsecret.js',
    '/%2e%2e/secret.js',
    '/assets/..\\..\\secret.js',
    '/../root-secret/x.js',
    '/assets/link.js',
    '/assets',
    '/assets/',
    '//index.html',
    '/./index.html',
    '/.hidden.js',
    '/C:/secret.js',
    '/assets/index-AB_c-1.js\0.html',
    '/assets/notes.txt',
    'index.html',
    ''
  ])('has nothing at %j', async (path) => {
    expect(await read(path)).toBeUndefined()
  })
})
