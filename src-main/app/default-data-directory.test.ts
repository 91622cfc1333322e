import { describe, expect, it } from 'vitest'
import { defaultArtifactDirectory, defaultDataDirectory } from './default-data-directory.ts'

describe('the files of handlers', () => {
  it('lie beside a queue that is a file, where the app that shows it looks for them', () => {
    expect(defaultArtifactDirectory('/data/queues/queue.sqlite')).toBe('/data/queues/artifacts')
  })

  it("lie in the app's folder for a queue on a server", () => {
    expect(defaultArtifactDirectory(null)).toBe(`${defaultDataDirectory(process.env, process.platform)}/artifacts`)
  })
})
