import { hash } from 'node:crypto'

/** What an idempotency key is unique within. */
export interface KeyScope {
  readonly type: string
  readonly owner: string
  readonly key: string
}

/**
 * 32 bytes that stand for a key. Collations equate different keys (other case, other emoji, trailing spaces), so stores compare
 * this instead; the name space and the lengths keep ('a', 'bc') and ('ab', 'c') apart.
 */
export function idempotencyHash(scope: KeyScope): Uint8Array {
  return digest('taskdeck/idempotency/1', [scope.type, scope.owner, scope.key])
}

/** 32 bytes that tell whether a repeated key came with the same payload. The text decides, not its meaning as JSON. */
export function payloadHash(payload: string): Uint8Array {
  return digest('taskdeck/payload/1', [payload])
}

/**
 * The key that handlers give to the systems they change: the same for every attempt of a task, and different for tasks with
 * the same id in other databases, which is why the time of creation takes part when the producer gave no key.
 */
export function effectKey(task: {
  readonly taskId: string
  /** As the store keeps it; only equality matters. */
  readonly createdAt: string | number
  readonly idempotencyHash: Uint8Array | null
}): string {
  if (task.idempotencyHash !== null) return Buffer.from(task.idempotencyHash).toString('hex')
  return hash('sha256', framed('taskdeck/effect/1', [task.taskId, String(task.createdAt)]), 'hex')
}

const digest = (space: string, parts: readonly string[]): Uint8Array => hash('sha256', framed(space, parts), 'buffer')

/** Each part after its length: no two lists of parts look the same. */
function framed(space: string, parts: readonly string[]): Buffer {
  const all = [space, ...parts]
  const bytes = Buffer.allocUnsafe(all.reduce((sum, part) => sum + 4 + Buffer.byteLength(part), 0))
  let end = 0
  for (const part of all) {
    const length = bytes.write(part, end + 4)
    bytes.writeUInt32BE(length, end)
    end += 4 + length
  }
  return bytes
}
