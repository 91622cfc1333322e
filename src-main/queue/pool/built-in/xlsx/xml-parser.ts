import sax from 'sax'
import { workbookLimits } from './limits.ts'
import { damaged, tooLarge } from './workbook-errors.ts'
import type { WorkbookParts } from './workbook-parts.ts'

export type XmlAttributes = Readonly<Record<string, string | undefined>>

/** Names of elements come without their prefix: writers differ in it. */
export interface XmlEvents {
  open(name: string, attributes: XmlAttributes): void
  close?(name: string): void
  /** A text may come in pieces. */
  text?(piece: string): void
}

/**
 * XML in UTF-8, chunk by chunk. No entities beside those of XML and HTML, no document type. What an element can make the parser keep is
 * bounded: its own buffers (64 KiB each), here the depth and the attributes. Throws WORKBOOK_DAMAGED, WORKBOOK_TOO_LARGE and what
 * `events` throw.
 */
export class XmlParser {
  // without the position sax does not bound its buffers
  private readonly parser = sax.parser(true, { position: true })
  private readonly decoder = new TextDecoder('utf-8', { fatal: true })
  private depth = 0
  private attributes = 0

  constructor(events: XmlEvents) {
    const { parser } = this
    parser.onerror = (error) => {
      throw damaged(`its XML is broken, ${error.message.split('\n', 1)[0] ?? ''}`)
    }
    parser.ondoctype = () => {
      throw damaged('its XML declares a document type')
    }
    parser.onattribute = ({ name }) => {
      if (++this.attributes > workbookLimits.attributes) throw tooLarge('an element with too many attributes')
      // sax asks the attributes themselves which there are
      if (name === 'hasOwnProperty') throw damaged(`its XML has an attribute ${name}`)
    }
    parser.onopentag = ({ name, attributes }) => {
      this.attributes = 0
      if (++this.depth > workbookLimits.depth) throw tooLarge('elements too deep within each other')
      events.open(localName(name), attributes as XmlAttributes)
    }
    parser.onclosetag = (name) => {
      this.depth--
      events.close?.(localName(name))
    }
    parser.ontext = (piece) => events.text?.(piece)
    parser.oncdata = (piece) => events.text?.(piece)
  }

  write(bytes: Buffer): void {
    this.parser.write(this.decode(bytes))
  }

  end(): void {
    this.parser.write(this.decode()).close()
  }

  private decode(bytes?: Buffer): string {
    try {
      return this.decoder.decode(bytes, { stream: bytes !== undefined })
    } catch {
      throw damaged('its XML is not in UTF-8')
    }
  }
}

/** Reads a part that tells `events` all that is wanted of it. */
export async function readXml(
  parts: WorkbookParts,
  { path, mostBytes }: { readonly path: string; readonly mostBytes: number },
  events: XmlEvents
): Promise<void> {
  const parser = new XmlParser(events)
  for await (const bytes of parts.read(path, mostBytes)) parser.write(bytes)
  parser.end()
}

const localName = (name: string): string => name.slice(name.indexOf(':') + 1)
