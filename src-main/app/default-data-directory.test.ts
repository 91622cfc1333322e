import { describe, expect, it } from 'vitest'
import { defaultArtifactDirectory, defaultDataDirectory } from './default-data-directory.ts'

describe('the files of handlers', () => {
  it('lie beside a queue that is a file, where the app that shows it looks for them', () => {
    expect(defaultArtifactDirectory({ file: '/data/queues/queue.sqlite' })).toBe('/data/queues/artifacts')
  })

  it("lie in the app's folder for queues on servers, in one folder a queue", () => {
    const folder = `${defaultDataDirectory(process.env, process.platform)}/artifacts/`
    const login = { host: 'db', port: 3306, database: 'orders/../x' }
    const others = [
      { ...login, host: 'db2' },
      { ...login, port: 3307 },
      { ...login, database: 'orders____x' }
    ]
    const folders = [login, ...others].map((one) => defaultArtifactDirectory({ login: one }))
    expect(folders[0]).toMatch(/\/artifacts\/orders____x-[0-9a-f]{12}$/)
    expect(folders.every((one) => one.startsWith(folder))).toBe(true)
    expect(new Set(folders).size).toBe(folders.length)
  })
})
