import { readdirSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { eventually } from './support/eventually.ts'
import { launchElectron, type ElectronShell } from './support/electron-shell.ts'

let shell: ElectronShell
beforeAll(async () => {
  shell = await launchElectron()
})
afterAll(() => shell?.stop())

/** Our page is still there, and its main process answers. */
async function expectAlive(): Promise<void> {
  expect(await shell.page.evaluate(() => location.href)).toMatch(/^app:\/\/main\/index\.html#\//)
  expect(await shell.app.evaluate(({ BrowserWindow }) => BrowserWindow.getAllWindows().length)).toBe(1)
}

describe('the page', () => {
  it('has nothing of Node and nothing of Electron but the mark of its shell', async () => {
    const seen = await shell.page.evaluate(() => {
      const names = ['process', 'require', 'Buffer', 'module', 'global', '__dirname', 'ipcRenderer', 'electron']
      const shell: unknown = Reflect.get(window, 'taskdeck')
      return { names: names.filter((name) => name in window), shell }
    })
    expect(seen).toEqual({ names: [], shell: { shell: 'electron' } })
  })

  it('runs with the settings that keep it apart, as they are at run time', async () => {
    const [preferences] = await shell.app.evaluate(({ webContents }) =>
      webContents.getAllWebContents().map((contents) => {
        const read = Reflect.get(contents, 'getLastWebPreferences') as () => Record<string, unknown>
        return read.call(contents)
      })
    )
    expect(preferences).toMatchObject({
      contextIsolation: true,
      sandbox: true,
      nodeIntegration: false,
      webSecurity: true,
      webviewTag: false
    })
    for (const name of [
      'nodeIntegrationInWorker',
      'allowRunningInsecureContent',
      'experimentalFeatures',
      'nodeIntegrationInSubFrames',
      'navigateOnDragDrop',
      'devTools'
    ])
      expect(preferences?.[name] ?? false, name).toBe(false)
  })

  it('comes from a secure scheme of its own, with a fresh nonce each time', async () => {
    const seen = await shell.page.evaluate(async () => {
      const [one, two] = [await fetch('app://main/index.html'), await fetch('app://main/')]
      return {
        secure: isSecureContext,
        origin: location.origin,
        policies: [one.headers.get('content-security-policy'), two.headers.get('content-security-policy')],
        nosniff: one.headers.get('x-content-type-options')
      }
    })
    expect(seen).toMatchObject({ secure: true, origin: 'app://main', nosniff: 'nosniff' })
    expect(seen.policies[0]).toMatch(/^default-src 'none'; script-src 'self'; style-src 'self' 'nonce-[^']+'; /)
    expect(seen.policies[0]).not.toBe(seen.policies[1])
    expect(seen.policies[0]).not.toMatch(/unsafe|\*|https?:/)
  })

  it('blocks inline scripts, eval, frames and remote images', async () => {
    const seen = await shell.page.evaluate(async () => {
      const directives: string[] = []
      document.addEventListener('securitypolicyviolation', (event) => directives.push(event.effectiveDirective))
      const script = document.createElement('script')
      script.textContent = 'window.injected = true'
      document.body.append(script)
      const image = new Image()
      image.src = 'https://127.0.0.1:1/x.png'
      document.body.append(image)
      const frame = document.createElement('iframe')
      frame.src = 'https://127.0.0.1:1/'
      document.body.append(frame)
      // In a task of the page's own: what the debugger evaluates is exempt.
      const evaluated = await new Promise((resolve) =>
        setTimeout(() => {
          try {
            resolve((Reflect.get(window, 'eval') as (code: string) => unknown)('1'))
          } catch {
            resolve('blocked')
          }
        })
      )
      const deadline = performance.now() + 20_000
      while (new Set(directives).size < 4 && performance.now() < deadline)
        await new Promise((resolve) => setTimeout(resolve, 50))
      for (const element of [script, image, frame]) element.remove()
      return { evaluated, injected: 'injected' in window, directives: [...new Set(directives)].sort() }
    })
    expect(seen).toEqual({
      evaluated: 'blocked',
      injected: false,
      directives: ['frame-src', 'img-src', 'script-src', 'script-src-elem']
    })
  })

  it.each([
    'app://main/../package.json',
    'app://main/..%2f..%2fpackage.json',
    'app://main/%2e%2e/%2e%2e/package.json',
    'app://main/assets/..%5c..%5cpackage.json',
    'app://main//etc/passwd',
    'app://main/main/index.js',
    'app://other/index.html'
  ])('finds nothing at %s', async (url) => {
    const answer = await shell.page.evaluate(
      (target) =>
        fetch(target)
          .then(async (r) => ({ status: r.status, text: await r.text() }))
          .catch(() => ({ status: 0, text: '' })),
      url
    )
    expect([0, 404]).toContain(answer.status)
    expect(answer.text).not.toMatch(/"name"|root:/)
  })
})

describe('leaving the page', () => {
  it.each([
    ['https', 'https://example.com/'],
    ['file', 'file:///etc/passwd'],
    ['data', 'data:text/html,<h1>x</h1>'],
    ['javascript', 'javascript:document.title="hit"'],
    ['blob', 'blob:app://main/x'],
    ['another page of ours', 'app://main/assets/none.html'],
    ['another host of ours', 'app://evil/index.html']
  ])('to %s is refused', async (_name, url) => {
    await shell.page.evaluate((target) => {
      location.href = target
    }, url)
    await shell.page.evaluate((target) => {
      const link = document.createElement('a')
      link.href = target
      link.target = '_blank'
      document.body.append(link)
      link.click()
      link.remove()
    }, url)
    await expectAlive()
    expect(await shell.page.title()).not.toBe('hit')
  })

  it('by window.open opens nothing', async () => {
    const opened = await shell.page.evaluate(() =>
      ['https://example.com/', 'about:blank', 'app://main/index.html'].map((url) => window.open(url) === null)
    )
    expect(opened).toEqual([true, true, true])
    await expectAlive()
  })

  it('by a webview or a form does nothing', async () => {
    await shell.page.evaluate(() => {
      const view = document.createElement('webview')
      view.setAttribute('src', 'https://example.com/')
      document.body.append(view)
      const form = document.createElement('form')
      form.action = 'https://example.com/'
      document.body.append(form)
      form.submit()
      for (const element of [view, form]) element.remove()
    })
    await expectAlive()
    expect(await shell.app.evaluate(({ webContents }) => webContents.getAllWebContents().length)).toBe(1)
  })

  it('by the network is cut below the page too', async () => {
    const answer = await shell.app.evaluate(({ net, session }) => {
      void net
      return session.defaultSession.fetch('http://127.0.0.1:1/').then(
        () => 'reached',
        (error: unknown) => String(error)
      )
    })
    expect(answer).toContain('ERR_BLOCKED_BY_CLIENT')
  })
})

describe('permissions', () => {
  it('are refused whatever is asked for', async () => {
    const seen = await shell.page.evaluate(async () => {
      const refused = (work: Promise<unknown>): Promise<string> =>
        work.then(
          () => 'given',
          () => 'refused'
        )
      const position = new Promise((resolve, reject) => navigator.geolocation.getCurrentPosition(resolve, reject))
      const media = navigator.mediaDevices.getUserMedia({ audio: true })
      const display = navigator.mediaDevices.getDisplayMedia()
      const clipboard = navigator.clipboard.readText()
      return {
        notification: await Notification.requestPermission(),
        asked: await Promise.all([position, media, display, clipboard].map(refused)),
        midi: await navigator.permissions.query({ name: 'midi' }).then((status) => status.state)
      }
    })
    expect(seen).toEqual({
      notification: 'denied',
      asked: ['refused', 'refused', 'refused', 'refused'],
      midi: 'denied'
    })
  })
})

describe('the line to the main process', () => {
  it('has one channel', async () => {
    const channels = await shell.app.evaluate(({ ipcMain }) => ipcMain.eventNames().map(String))
    // Electron itself listens for 'error'.
    expect(channels.filter((name) => name !== 'error')).toEqual(['orpc:connect'])
  })

  it('is refused to a page that is not ours, in a window with our preload', async () => {
    const closed = await shell.app.evaluate(async ({ BrowserWindow, app }) => {
      const foreign = new BrowserWindow({
        show: false,
        webPreferences: {
          sandbox: true,
          contextIsolation: true,
          preload: `${app.getAppPath()}/out/preload/index.cjs`
        }
      })
      const page = `<script>
        const channel = new MessageChannel()
        channel.port1.addEventListener('close', () => { document.title = 'closed' })
        channel.port1.addEventListener('message', () => { document.title = 'answered' })
        channel.port1.start()
        window.postMessage('orpc:connect', '*', [channel.port2])
        channel.port1.postMessage('{"i":"1","p":{"u":"/app/info"}}')
      </script>`
      const title = new Promise<string>((resolve) =>
        foreign.on('page-title-updated', (_event, text) => text !== '' && !text.startsWith('data:') && resolve(text))
      )
      await foreign.loadURL(`data:text/html,${encodeURIComponent(page)}`)
      const seen = await title
      foreign.destroy()
      return seen
    })
    expect(closed).toBe('closed')
  })

  it('answers our page, again after a reload', async () => {
    const ask = () =>
      shell.page.evaluate(
        () =>
          new Promise((resolve) => {
            const { port1, port2 } = new MessageChannel()
            port1.onmessage = ({ data }) => resolve(data)
            window.postMessage('orpc:connect', '*', [port2])
            port1.postMessage('{"i":"1","p":{"u":"/app/info"}}')
          })
      )
    expect(String(await ask())).toContain('"shell":"electron"')
    await shell.page.reload()
    await shell.page.waitForLoadState('domcontentloaded')
    expect(String(await ask())).toContain('"shell":"electron"')
  })

  it('survives 2,000 random messages', async () => {
    await shell.page.evaluate(async () => {
      let state = 20_261_129
      const pick = (below: number): number => {
        state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0
        return Math.floor((state / 2 ** 32) * below)
      }
      const one = (items: readonly unknown[]): unknown => items[pick(items.length)]
      const value = (): unknown =>
        one([
          null,
          0,
          -1,
          'x',
          {},
          [],
          true,
          'a'.repeat(5_000),
          { json: {}, meta: [[1, 'a']] },
          '['.repeat(2_000) + ']'.repeat(2_000)
        ])
      const path = (): unknown =>
        one([
          '/app/info',
          '/tasks/get',
          '/connections/save',
          '/tasks/__proto__/x',
          '/../..',
          '//',
          'http://evil/',
          '/app/events',
          '%',
          5
        ])
      const frame = (): object => ({
        i: one(['1', 1, null, {}, '__proto__', pick(50)]),
        t: one([1, 3, 4, 9, 'x', undefined]),
        p: one([
          value(),
          {
            u: path(),
            b: { json: value(), meta: one([[], [[0, 'x']], value()]) },
            h: one([{}, { 'content-type': 'text/event-stream' }, value()])
          }
        ])
      })
      const message = (): unknown => {
        const bytes = new Uint8Array(Array.from({ length: pick(300) }, () => pick(256)))
        return one([
          bytes,
          bytes.buffer,
          JSON.stringify(frame()).slice(0, pick(400)),
          JSON.stringify(frame()),
          frame(),
          value(),
          undefined,
          new Map([[1, 2]])
        ])
      }
      for (let round = 0; round < 20; round++) {
        const { port1, port2 } = new MessageChannel()
        port1.start()
        window.postMessage(one(['orpc:connect', 'orpc:connect', 'orpc:connect', 'other', {}]), '*', [port2])
        for (let n = 0; n < 100; n++) port1.postMessage(message())
        await new Promise((resolve) => setTimeout(resolve, 20))
        port1.close()
      }
    })
    await expectAlive()
    expect(shell.output()).not.toMatch(/UnhandledPromiseRejection|Uncaught/)
    await shell.page.reload()
    await eventually(() =>
      shell.page.evaluate(() => document.querySelector('#app')?.childElementCount ?? 0)
    ).toBeGreaterThan(0)
  })
})

describe('its files and its life', () => {
  it('keeps everything in the one folder', () => {
    const names = readdirSync(shell.dataDir)
    for (const name of ['queue.sqlite', 'history.sqlite', 'audit.sqlite', 'chromium', 'lock.json'])
      expect(names).toContain(name)
  })

  it('says plainly where there is no store for passwords', async () => {
    const vault = await shell.app.evaluate(({ safeStorage }) => safeStorage.getSelectedStorageBackend())
    const info = await shell.page.evaluate(
      () =>
        new Promise<string>((resolve) => {
          const { port1, port2 } = new MessageChannel()
          port1.onmessage = ({ data }) => resolve(String(data))
          window.postMessage('orpc:connect', '*', [port2])
          port1.postMessage('{"i":"1","p":{"u":"/app/info"}}')
        })
    )
    const told = (JSON.parse(info) as { p: { b: { json: { vault: { persistent: boolean; reason: string | null } } } } })
      .p.b.json.vault
    expect(told.persistent).toBe(vault !== 'basic_text')
    if (!told.persistent) expect(told.reason).toMatch(/^(noKeyring|unavailable)$/)
  })

  it('lets a download be only what the page made itself', async () => {
    const target = join(shell.dataDir, 'made.txt')
    const result = await shell.app.evaluate(
      ({ session, BrowserWindow }, file) =>
        new Promise<string[]>((resolve) => {
          const seen: string[] = []
          session.defaultSession.on('will-download', (event, item) => {
            item.setSavePath(file)
            seen.push(`${item.getURL().split('/')[0]} ${event.defaultPrevented ? 'refused' : 'taken'}`)
            if (seen.length === 2) resolve(seen)
          })
          const contents = BrowserWindow.getAllWindows()[0]?.webContents
          contents?.downloadURL('data:text/plain,foreign')
          void contents?.executeJavaScript(`{
            const link = document.createElement('a')
            link.href = URL.createObjectURL(new Blob(['made here']))
            link.download = 'made.txt'
            link.click()
          }`)
        }),
      target
    )
    expect(result.sort()).toEqual(['blob:app: taken', 'data:text refused'])
  })

  it('starts once for a folder: a second start ends by itself', async () => {
    await expect(launchElectron({ dataDir: shell.dataDir })).rejects.toThrow()
    await expectAlive()
  })
})
