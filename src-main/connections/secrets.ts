import { join } from 'node:path'
import { z } from 'zod'
import { AppError, type Clock } from '../kernel/index.ts'
import { readPrivateFile, writePrivateFile } from './private-file.ts'

/** The operating system's store for secrets, as a shell offers it. */
export interface SecretVault {
  /** False where secrets would be kept in a way that anyone can read (Linux without a keyring). */
  readonly persistent: boolean
  /** For example "Keychain". */
  readonly name: string
  /** Why it is not persistent, null when it is. */
  readonly reason: 'noKeyring' | 'unavailable' | null
  encrypt(text: string): Promise<Uint8Array>
  decrypt(bytes: Uint8Array): Promise<string>
}

/** For whom a password is meant. Kept inside of the encrypted text: a changed host never gets the old one's password. */
export interface SecretTarget {
  readonly host: string
  readonly port: number
  readonly user: string
}

export type PasswordPlace = 'none' | 'vault' | 'session' | 'missing'

const fileFormat = z.object({
  version: z.literal(1),
  /** By connection: base64 of the vault's bytes. */
  secrets: z.record(z.string(), z.string())
})

const sealedText = z.object({ host: z.string(), port: z.int(), user: z.string(), password: z.string() })
type Sealed = z.infer<typeof sealedText>

interface KnownSecret {
  readonly entry: Sealed
  readonly place: 'vault' | 'session'
}

/**
 * Passwords by connection: in memory for this session, or encrypted by the vault in `secrets.json`. An empty password
 * is a password too. Nothing here is ever logged; errors carry no part of a secret.
 */
export class Secrets {
  /** Why an existing file was not used; null when all is well. */
  readonly problem: AppError | null
  private readonly file: string
  private readonly vault: SecretVault | null
  private readonly writable: boolean
  private readonly session = new Map<string, Sealed>()
  /** Kept in this run, and no server has taken it yet. */
  private readonly untried = new Set<string>()
  /** In the vault, and refused in this run by a server that took it before. */
  private readonly refusedInVault = new Set<string>()
  private sealed: Readonly<Record<string, string>>
  private tail: Promise<unknown> = Promise.resolve()

  private constructor(
    where: { file: string; vault: SecretVault | null },
    loaded: { sealed: Record<string, string>; problem: AppError | null; writable: boolean }
  ) {
    this.file = where.file
    this.vault = where.vault?.persistent ? where.vault : null
    this.sealed = loaded.sealed
    this.problem = loaded.problem
    this.writable = loaded.writable
  }

  /** Never throws. Without a persistent vault everything lasts for this session only. */
  static async open(dataDir: string, options: { vault: SecretVault | null; clock: Clock }): Promise<Secrets> {
    const file = join(dataDir, 'secrets.json')
    const { content, problem, writable } = await readPrivateFile(file, fileFormat, options.clock)
    return new Secrets({ file, vault: options.vault }, { sealed: content?.secrets ?? {}, problem, writable })
  }

  /**
   * Keeps the password until the exit (`session`) or for good (`vault`), and forgets where it was before.
   * Throws VAULT_UNAVAILABLE, DISK_FULL or FILE_UNAVAILABLE; then nothing changed.
   */
  async keep(
    id: string,
    target: SecretTarget,
    secret: { password: string; place: 'vault' | 'session' }
  ): Promise<void> {
    const { host, port, user } = target
    const entry = { host, port, user, password: secret.password }
    if (secret.place === 'vault') {
      const bytes = await this.seal(JSON.stringify(entry))
      await this.change((all) => ({ ...all, [id]: Buffer.from(bytes).toString('base64') }))
      this.session.delete(id)
    } else {
      await this.dropSealed(id)
      this.session.set(id, entry)
    }
    this.untried.add(id)
    this.refusedInVault.delete(id)
  }

  /** A server took its password: a later refusal is the server's change, so that the vault keeps it. */
  accepted(id: string): void {
    this.untried.delete(id)
  }

  /**
   * A server refused this password: from now on none is known. Out of the vault it is taken only when it never worked. Does nothing when
   * another one was kept meanwhile. Throws DISK_FULL or FILE_UNAVAILABLE when it stays in the file; it is not used then either.
   */
  async refused(id: string, password: string): Promise<void> {
    const known = await this.known(id)
    if (known?.entry.password !== password) return
    this.session.delete(id)
    if (known.place === 'session') return
    this.refusedInVault.add(id)
    if (this.untried.has(id)) await this.dropSealed(id)
  }

  /** The password for this target, null when none is known. Never throws: what cannot be decrypted is not known. */
  async password(id: string, target: SecretTarget): Promise<string | null> {
    return (await this.find(id, target))?.entry.password ?? null
  }

  /** Where the password for this target is; `none` for an empty one. */
  async place(id: string, target: SecretTarget): Promise<PasswordPlace> {
    const found = await this.find(id, target)
    if (!found) return 'missing'
    return found.entry.password === '' ? 'none' : found.place
  }

  /** Throws DISK_FULL or FILE_UNAVAILABLE when it stays in the file. */
  async forget(id: string): Promise<void> {
    this.session.delete(id)
    this.untried.delete(id)
    this.refusedInVault.delete(id)
    await this.dropSealed(id)
  }

  /**
   * Forgets what was kept for another host, port or user. To be called when a connection is saved. What cannot be
   * decrypted now stays: a locked keyring may open again, and `password` compares the target then.
   */
  async retarget(id: string, target: SecretTarget): Promise<void> {
    const known = await this.known(id)
    if (known && !isFor(known.entry, target)) await this.forget(id)
  }

  private async find(id: string, target: SecretTarget): Promise<KnownSecret | null> {
    const known = await this.known(id)
    return known && isFor(known.entry, target) ? known : null
  }

  private async known(id: string): Promise<KnownSecret | null> {
    const remembered = this.session.get(id)
    if (remembered) return { entry: remembered, place: 'session' }
    const sealed = this.refusedInVault.has(id) ? undefined : this.sealed[id]
    const entry = sealed === undefined ? null : await this.unseal(sealed)
    return entry && { entry, place: 'vault' }
  }

  private async seal(text: string): Promise<Uint8Array> {
    if (!this.vault) throw vaultUnavailable()
    try {
      return await this.vault.encrypt(text)
    } catch (cause) {
      throw vaultUnavailable(cause)
    }
  }

  private async unseal(base64: string): Promise<Sealed | null> {
    if (!this.vault) return null
    try {
      const text = await this.vault.decrypt(Buffer.from(base64, 'base64'))
      return sealedText.parse(JSON.parse(text))
    } catch {
      // Another user, a new machine, a reset keyring: the password is asked for again.
      return null
    }
  }

  private async dropSealed(id: string): Promise<void> {
    if (!(id in this.sealed)) return
    await this.change((all) => Object.fromEntries(Object.entries(all).filter(([key]) => key !== id)))
  }

  private change(next: (all: Readonly<Record<string, string>>) => Readonly<Record<string, string>>): Promise<void> {
    const done = this.tail.then(async () => {
      if (!this.writable) throw this.problem ?? new AppError('BUG', 'bug', 'Not writable without a reason')
      const sealed = next(this.sealed)
      await writePrivateFile(this.file, { version: 1, secrets: sealed })
      this.sealed = sealed
    })
    this.tail = done.catch(() => undefined)
    return done
  }
}

const isFor = (entry: Sealed, target: SecretTarget): boolean =>
  entry.host === target.host && entry.port === target.port && entry.user === target.user

const vaultUnavailable = (cause?: unknown): AppError =>
  new AppError(
    'VAULT_UNAVAILABLE',
    'user',
    'This system offers no store for secrets: keep the password for this session only.',
    {
      cause
    }
  )
