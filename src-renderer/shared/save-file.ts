/** The browser reads the address after the click; it must outlive that. */
const revokeAfterMs = 60_000

/** Hands a file to the reader: the desktop asks where to, a browser puts it where its downloads go. */
export function saveFile(content: Blob, name: string): void {
  const url = URL.createObjectURL(content)
  const link = document.createElement('a')
  link.href = url
  link.download = name
  link.click()
  setTimeout(() => URL.revokeObjectURL(url), revokeAfterMs)
}
