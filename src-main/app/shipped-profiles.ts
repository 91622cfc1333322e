import { readdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { parseProfile } from '../schema-profiles/index.ts'

export interface ShippedProfile {
  readonly name: string
  readonly text: string
}

/** The profiles that come with Taskdeck, by name. Throws INVALID_INPUT for one that is none. */
export async function shippedProfiles(resourcesDir: string): Promise<ShippedProfile[]> {
  const folder = join(resourcesDir, 'profiles')
  const files = (await readdir(folder)).filter((file) => file.endsWith('.json')).sort()
  return Promise.all(
    files.map(async (file) => {
      const text = await readFile(join(folder, file), 'utf8')
      return { name: parseProfile(text, file).name, text }
    })
  )
}
