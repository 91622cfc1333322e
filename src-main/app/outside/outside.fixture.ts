import type { ConnectionView } from '../../contract/index.ts'

/** A connection that lives, but for `changes`. */
export const connectionView = (changes: Partial<ConnectionView> = {}): ConnectionView => ({
  id: 'orders',
  name: 'Orders',
  kind: 'mysql',
  environment: 'production',
  accessMode: 'read-only',
  mysql: {
    host: 'db7.internal.example',
    port: 3306,
    user: 'watcher',
    database: 'orders_live',
    tls: 'required',
    ca: ''
  },
  profile: null,
  password: 'session',
  server: 'MariaDB 10.11.19',
  link: { status: 'live', lastReadingAt: 100_000 },
  ...changes
})
