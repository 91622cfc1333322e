import { describe, expect, it } from 'vitest'
import { eventually } from './support/eventually.ts'
import { launchElectron, type ElectronShell } from './support/electron-shell.ts'

/** One call over a line of its own, as the page makes it. */
const ask = (shell: ElectronShell, path: string, json: unknown): Promise<string> =>
  shell.page.evaluate(
    ({ path: url, json: input }) =>
      new Promise<string>((resolve) => {
        const { port1, port2 } = new MessageChannel()
        port1.onmessage = ({ data }) => {
          resolve(String(data))
          port1.close()
        }
        window.postMessage('orpc:connect', '*', [port2])
        port1.postMessage(JSON.stringify({ i: '1', p: { u: url, b: { json: input } } }))
      }),
    { path, json }
  )

/** The desktop of a test machine shows nothing: from now on this one says that it does, and waits to be clicked. */
const standInDesktop = (shell: ElectronShell): Promise<void> =>
  shell.app.evaluate(({ Notification }) => {
    const shown: InstanceType<typeof Notification>[] = []
    Object.assign(globalThis, { shownNotifications: shown })
    Notification.isSupported = () => true
    Notification.prototype.show = function (this: InstanceType<typeof Notification>) {
      shown.push(this)
      this.emit('show')
    }
  })

interface MainGlobals {
  readonly shownNotifications: readonly { readonly title: string; emit(event: string): void }[]
}

describe('alerts on the desktop', () => {
  it('are shown, and a click opens the Overview at that moment', async () => {
    const shell = await launchElectron()
    await standInDesktop(shell)
    await ask(shell, '/alerts/saveNotifier', { name: 'This desktop', kind: 'desktop' })
    const rule = { signal: 'oldestMs', above: 100, clearAt: 50, forMs: 0, clearForMs: 0, repeatMs: null, enabled: true }
    await ask(shell, '/alerts/saveRule', { connectionId: 'local', ruleId: 'default-oldestMs', rule })
    await shell.page.evaluate(() => (location.hash = '#/settings'))
    await ask(shell, '/tasks/submit', { connectionId: 'local', task: { type: 'nobody', payload: '{}' } })
    const titles = (): Promise<string[]> =>
      shell.app.evaluate(() => (globalThis as unknown as MainGlobals).shownNotifications.map(({ title }) => title))
    await eventually(titles).toHaveLength(1)
    expect((await titles())[0]).toMatch(/^\[Taskdeck\].*Local queue$/)
    await shell.app.evaluate(() => (globalThis as unknown as MainGlobals).shownNotifications[0]?.emit('click'))
    await eventually(() => shell.page.evaluate(() => location.hash)).toMatch(/^#\/c\/local\/overview\?/)
    expect(await ask(shell, '/alerts/deliveries', undefined)).toContain('"status":"delivered"')
    await shell.stop()
  })

  it('are known not to be shown where the desktop takes none', async () => {
    const shell = await launchElectron()
    await shell.app.evaluate(({ Notification }) => void (Notification.isSupported = () => false))
    const saved = await ask(shell, '/alerts/saveNotifier', { name: 'This desktop', kind: 'desktop' })
    const [, notifierId = ''] = /"id":"([^"]+)"/.exec(saved) ?? []
    const answer = await ask(shell, '/alerts/testNotifier', { notifierId })
    expect(answer).toContain('"status":"failed"')
    expect(answer).toContain('takes no notifications')
    await shell.stop()
  })
})
