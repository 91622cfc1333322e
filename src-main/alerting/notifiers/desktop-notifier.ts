import type { MessageText } from './message-text.ts'

/** The desktop's own notifications, as a shell offers them. */
export interface DesktopNotifier {
  /** Resolves once it is handed to the desktop; `onClick` is called when the user clicks it. Throws an AppError when the desktop shows none. */
  show(text: MessageText, onClick: () => void): Promise<void>
}
