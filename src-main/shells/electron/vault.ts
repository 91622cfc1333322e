import { safeStorage } from 'electron'
import type { SecretVault } from '../../app/index.ts'

/**
 * The operating system's store through Electron. On Linux without a keyring Electron "encrypts" with a fixed key that everybody
 * knows (`basic_text`): that is refused, and said.
 */
export async function createVault(): Promise<SecretVault> {
  const name = storeName()
  const reason = await whyNot()
  return { name, reason, persistent: reason === null, encrypt, decrypt }
}

async function whyNot(): Promise<SecretVault['reason']> {
  if (process.platform === 'linux' && safeStorage.getSelectedStorageBackend() === 'basic_text') return 'noKeyring'
  return (await isAvailable()) ? null : 'unavailable'
}

/** The asynchronous calls came late (Electron 40); the synchronous ones go with 46. */
async function isAvailable(): Promise<boolean> {
  if (hasAsync()) return safeStorage.isAsyncEncryptionAvailable()
  return safeStorage.isEncryptionAvailable()
}

async function encrypt(text: string): Promise<Uint8Array> {
  return hasAsync() ? safeStorage.encryptStringAsync(text) : safeStorage.encryptString(text)
}

async function decrypt(bytes: Uint8Array): Promise<string> {
  const sealed = Buffer.from(bytes)
  if (!hasAsync()) return safeStorage.decryptString(sealed)
  return (await safeStorage.decryptStringAsync(sealed)).result
}

const hasAsync = (): boolean => 'encryptStringAsync' in safeStorage

function storeName(): string {
  if (process.platform === 'darwin') return 'Keychain'
  if (process.platform === 'win32') return 'Windows Data Protection'
  return (
    { gnome_libsecret: 'GNOME Keyring', kwallet: 'KWallet', kwallet5: 'KWallet', kwallet6: 'KWallet' }[
      safeStorage.getSelectedStorageBackend() as string
    ] ?? 'keyring'
  )
}
