import type { Socket } from 'node:net'
import { AppError } from '../kernel/index.ts'

/** Four bytes of packet header, then the version of the protocol or the mark of an error. */
const headBytes = 5
const protocolVersion = 10
const errorMark = 0xff

/**
 * Resolves when the first bytes are those of a MySQL server; they stay unread. The driver would take any other server's bytes for the length of a
 * packet and wait for all of it. Throws NOT_MYSQL, CONNECTION_LOST when it was closed first, else the socket's error.
 */
export function untilGreeted(socket: Socket): Promise<void> {
  return new Promise((resolve, reject) => {
    let head = Buffer.alloc(0)
    const onData = (chunk: Buffer): void => {
      head = Buffer.concat([head, chunk])
      if (head.length < headBytes) return
      leave()
      if (!isGreeting(head)) return reject(notMysql())
      socket.pause()
      socket.unshift(head)
      resolve()
    }
    const onEnd = (): void => {
      leave()
      reject(closedFirst())
    }
    const onError = (error: Error): void => {
      leave()
      reject(error)
    }
    function leave(): void {
      socket.off('data', onData).off('end', onEnd).off('error', onError)
    }
    // One stays for the time between this and the driver: an error that nobody hears would end the process.
    socket.on('error', () => undefined)
    socket.on('data', onData).on('end', onEnd).on('error', onError)
  })
}

const isGreeting = (head: Buffer): boolean => head[3] === 0 && (head[4] === protocolVersion || head[4] === errorMark)

const notMysql = (): AppError =>
  new AppError(
    'NOT_MYSQL',
    'user',
    'Something answers at this address, but it is neither MySQL nor MariaDB: check the port (theirs is usually 3306).'
  )

const closedFirst = (): AppError =>
  new AppError(
    'CONNECTION_LOST',
    'operational',
    'The connection was closed before a MySQL server said anything: check that this port is its own, and that it runs.'
  )
