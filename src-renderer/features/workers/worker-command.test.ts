import { expect, it } from 'vitest'
import { makeScene } from '@/testing/scenes.ts'
import { workerCommand } from './worker-command.ts'

const { connections } = makeScene('healthy', 0)
const main = connections.find((one) => one.id === 'clinic-main')!

it('names the connection, never a password, and escapes what an address cannot hold', () => {
  expect(workerCommand(main)).toContain('mysql://taskdeck:PASSWORD@db-primary:3306/clinic_queue?tls=required')
  const odd = { ...main, mysql: { ...main.mysql!, user: "o'neil@x", host: '::1', tls: 'disabled' as const } }
  expect(workerCommand(odd)).toContain('mysql://o%27neil%40x:PASSWORD@[::1]:3306/clinic_queue')
})

it('gives no command for the embedded queue', () => {
  expect(workerCommand(connections.find((one) => one.kind === 'sqlite')!)).toBeNull()
})
