/**
 * Text as lines for a terminal or a log file. What handlers, tasks and servers say may hold escape sequences that repaint the
 * terminal, a carriage return that hides what stands before it, or marks that turn the order of letters around: these are written out.
 */
export function printable(text: string): string {
  const written = text.replace(/[\p{Cc}\p{Bidi_Control}]/gu, (mark) =>
    mark === '\n' || mark === '\t' ? mark : `\\u${mark.charCodeAt(0).toString(16).padStart(4, '0')}`
  )
  // One event begins at the margin, and nothing else does.
  return written.replaceAll('\n', '\n    ')
}
