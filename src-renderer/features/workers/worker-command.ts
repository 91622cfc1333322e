import type { ConnectionView } from '@contract'

/**
 * How to start a worker for this connection on any machine. The password is not in it: others can read command lines. null for the
 * embedded queue, which only Taskdeck's own worker serves.
 */
export function workerCommand(connection: ConnectionView): string | null {
  const { mysql } = connection
  if (!mysql) return null
  const host = mysql.host.includes(':') ? `[${mysql.host}]` : mysql.host
  const user = encodeURIComponent(mysql.user)
  const database = encodeURIComponent(mysql.database)
  const tls = mysql.tls === 'disabled' ? '' : `?tls=${mysql.tls}`
  const url = `mysql://${user}:PASSWORD@${host}:${mysql.port}/${database}${tls}`
  // The quotes of the shell must not be ended by a name.
  return `TASKDECK_CONNECTION='${url.replaceAll("'", '%27')}' npm run worker -- --handlers ./handlers --concurrency 4`
}
