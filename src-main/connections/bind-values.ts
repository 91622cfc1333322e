import mysql, { type ExecuteValues } from 'mysql2'
import { AppError, type SqlValue } from '../kernel/index.ts'

/** Read once: the driver's property resolves a module each time. */
const { LONGLONG } = mysql.TypedParameter

const smallestSigned = -(2n ** 63n)
const largestSigned = 2n ** 63n - 1n
const largestUnsigned = 2n ** 64n - 1n

/**
 * Values as the driver sends them. Integers go as BIGINT: the driver would send a number as DOUBLE, which MySQL 8.0.22
 * and newer refuse for LIMIT, and a string would turn integer arithmetic into floating point.
 * Throws BUG for a value that no column can hold exactly.
 */
export const bindValues = (values: readonly SqlValue[]): ExecuteValues[] => values.map(bindValue)

function bindValue(value: SqlValue, index: number): ExecuteValues {
  if (value === null || typeof value === 'string') return value
  if (typeof value === 'bigint') return integer(value, index)
  if (typeof value === 'number') return bindNumber(value, index)
  if (value instanceof Uint8Array) return Buffer.from(value.buffer, value.byteOffset, value.byteLength)
  throw unbindable(index, typeof value)
}

function bindNumber(value: number, index: number): ExecuteValues {
  if (Number.isSafeInteger(value)) return integer(BigInt(value), index)
  if (!Number.isFinite(value)) throw unbindable(index, String(value))
  if (Number.isInteger(value)) throw unbindable(index, 'an integer above 2^53, which is no longer exact')
  return value
}

function integer(value: bigint, index: number): ExecuteValues {
  if (value >= smallestSigned && value <= largestSigned) return LONGLONG(value)
  if (value > 0n && value <= largestUnsigned) return LONGLONG.unsigned(value)
  throw unbindable(index, 'an integer of more than 64 bits')
}

const unbindable = (index: number, what: string): AppError =>
  new AppError('BUG', 'bug', `Value ${index + 1} of the statement cannot be bound: ${what}`)
