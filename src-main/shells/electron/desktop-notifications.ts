import { BrowserWindow, Notification } from 'electron'
import type { DesktopNotifier } from '../../app/index.ts'
import { AppError } from '../../kernel/index.ts'

/** The desktop's list holds at most this many of ours; the oldest of them is taken back. */
const mostShown = 20

/** What the desktop shows of a long text is its own choice. */
const maxBodyCharacters = 500

/**
 * Notifications through Electron. They are held on to while they are shown: one that is collected as garbage does nothing when it is
 * clicked. A click brings the window to the front; what it shows then is the app's decision.
 */
export function createDesktopNotifier(): DesktopNotifier {
  const shown: Notification[] = []
  return {
    show({ title, body }, onClick) {
      if (!Notification.isSupported())
        return Promise.reject(undelivered('This desktop takes no notifications: use a webhook.'))
      const notification = new Notification({ title, body: body.slice(0, maxBodyCharacters) })
      shown.push(notification)
      if (shown.length > mostShown) shown.shift()?.close()
      notification.on('click', () => {
        bringToFront()
        onClick()
      })
      return handedOver(notification)
    }
  }
}

/** `failed` comes on Windows only; elsewhere what the desktop does with it is not told. */
function handedOver(notification: Notification): Promise<void> {
  return new Promise((resolve, reject) => {
    notification.on('show', () => resolve())
    notification.on('failed', (_event, reason) => reject(undelivered(`The desktop refused it: ${reason}`)))
    notification.show()
  })
}

function bringToFront(): void {
  const [window] = BrowserWindow.getAllWindows()
  if (!window) return
  if (window.isMinimized()) window.restore()
  window.show()
  window.focus()
}

const undelivered = (message: string): AppError => new AppError('DELIVERY_FAILED', 'operational', message)
