/** The longest safe name in bytes of UTF-8: what every file system and the stores take. */
export const fileNameBytes = 200

/**
 * A name that is safe on every file system and as a download: no path, no control character, no reserved name, at most
 * `mostBytes` of UTF-8.
 */
export function safeFileName(name: string, mostBytes = fileNameBytes): string {
  const cleaned = name
    .toWellFormed()
    .normalize('NFC')
    // eslint reads \x00 in a class as a mistake; \p{Cc} are the control characters.
    .replace(/[\p{Cc}\p{Cf}<>:"/\\|?*]/gu, '_')
    .replace(/^[.\s]+/, '')
  const usable = /^(con|prn|aux|nul|com\d|lpt\d)\s*(\.|$)/i.test(cleaned) ? `_${cleaned}` : cleaned
  return firstBytes(usable, mostBytes).replace(/[.\s]+$/, '') || 'file'
}

/** Whole characters of `text` that fit. */
function firstBytes(text: string, mostBytes: number): string {
  const encoder = new TextEncoder()
  let bytes = 0
  let kept = ''
  for (const character of text) {
    bytes += encoder.encode(character).length
    if (bytes > mostBytes) break
    kept += character
  }
  return kept
}
