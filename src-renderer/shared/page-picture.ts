/*
 * A picture of a part of the page, drawn anew from what the browser has laid out: backgrounds, borders, texts, icons and the charts' own
 * canvases. A browser lets no page photograph itself; the desktop shell does (`outside.picture`).
 */

/** Pixels of the picture at most: a browser gives no larger canvas, and a ticket wants none. */
const mostPixels = 16_000_000

/** PNG of an element as it is seen now. Rejects when the browser does not make it. */
export async function pictureOf(root: HTMLElement): Promise<Blob> {
  const { width, height } = root.getBoundingClientRect()
  const scale = Math.min(devicePixelRatio, Math.sqrt(mostPixels / Math.max(1, width * height)))
  const canvas = document.createElement('canvas')
  canvas.width = Math.max(1, Math.floor(width * scale))
  canvas.height = Math.max(1, Math.floor(height * scale))
  const pen = canvas.getContext('2d')
  if (!pen) throw new Error('no canvas')
  pen.scale(scale, scale)
  await new Painter(pen, root.getBoundingClientRect()).element(root)
  return new Promise((resolve, reject) => {
    canvas.toBlob((blob) => (blob ? resolve(blob) : reject(new Error('no picture'))), 'image/png')
  })
}

interface Box {
  readonly left: number
  readonly top: number
  readonly width: number
  readonly height: number
}

class Painter {
  private readonly pen: CanvasRenderingContext2D
  private readonly origin: Box

  constructor(pen: CanvasRenderingContext2D, origin: Box) {
    this.pen = pen
    this.origin = origin
  }

  async element(element: Element): Promise<void> {
    const style = getComputedStyle(element)
    const box = this.place(element.getBoundingClientRect())
    if (style.display === 'none' || style.visibility === 'hidden' || !this.isInside(box, style)) return
    const { pen } = this
    pen.save()
    pen.globalAlpha *= Number.parseFloat(style.opacity) || 0
    this.surface(element, box, style)
    if (style.overflowX !== 'visible' || style.overflowY !== 'visible') this.clipTo(box)
    if (element instanceof HTMLCanvasElement) pen.drawImage(element, box.left, box.top, box.width, box.height)
    else if (element instanceof SVGSVGElement) await this.icon(element, box)
    else await this.children(element, style)
    pen.restore()
  }

  private async children(element: Element, style: CSSStyleDeclaration): Promise<void> {
    for (const node of element.childNodes) {
      if (node instanceof Element) await this.element(node)
      else if (node.nodeType === Node.TEXT_NODE) this.text(node as Text, style)
    }
  }

  /** One that is turned (a diamond) is drawn in its own frame, about the middle of its box. */
  private surface(element: Element, box: Box, style: CSSStyleDeclaration): void {
    const { pen } = this
    const { a, b, c, d } = new DOMMatrix(style.transform)
    if (b === 0 || !(element instanceof HTMLElement)) return this.backing(box, style)
    const { offsetWidth: width, offsetHeight: height } = element
    pen.save()
    pen.transform(a, b, c, d, box.left + box.width / 2, box.top + box.height / 2)
    this.backing({ left: -width / 2, top: -height / 2, width, height }, style)
    pen.restore()
  }

  private backing({ left, top, width, height }: Box, style: CSSStyleDeclaration): void {
    const { pen } = this
    const radius = Number.parseFloat(style.borderTopLeftRadius) || 0
    const round = style.borderTopLeftRadius.endsWith('%') ? (Math.min(width, height) * radius) / 100 : radius
    pen.beginPath()
    pen.roundRect(left, top, width, height, round)
    pen.fillStyle = style.backgroundColor
    pen.fill()
    const side = (name: 'Top' | 'Right' | 'Bottom' | 'Left'): number =>
      style[`border${name}Style`] === 'none' ? 0 : Number.parseFloat(style[`border${name}Width`]) || 0
    const [first, ...others] = [side('Top'), side('Right'), side('Bottom'), side('Left')]
    if (first > 0 && others.every((one) => one === first)) {
      pen.beginPath()
      pen.roundRect(left + first / 2, top + first / 2, width - first, height - first, Math.max(0, round - first / 2))
      pen.lineWidth = first
      pen.strokeStyle = style.borderTopColor
      return pen.stroke()
    }
    this.fill(style.borderTopColor, { left, top, width, height: side('Top') })
    this.fill(style.borderBottomColor, { left, top: top + height - side('Bottom'), width, height: side('Bottom') })
    this.fill(style.borderLeftColor, { left, top, width: side('Left'), height })
    this.fill(style.borderRightColor, { left: left + width - side('Right'), top, width: side('Right'), height })
  }

  private fill(colour: string, { left, top, width, height }: Box): void {
    if (width <= 0 || height <= 0) return
    this.pen.fillStyle = colour
    this.pen.fillRect(left, top, width, height)
  }

  private clipTo({ left, top, width, height }: Box): void {
    this.pen.beginPath()
    this.pen.rect(left, top, width, height)
    this.pen.clip()
  }

  /** Word by word, where the browser has put each: lines break as they do on the page. */
  private text(node: Text, style: CSSStyleDeclaration): void {
    const { pen } = this
    // Not `font`, which is empty where a part of it (tabular figures) has no place in the short form.
    pen.font = `${style.fontStyle} ${style.fontWeight} ${style.fontSize} ${style.fontFamily}`
    pen.fillStyle = style.color
    pen.textBaseline = 'middle'
    pen.letterSpacing = style.letterSpacing === 'normal' ? '0px' : style.letterSpacing
    const range = document.createRange()
    for (const { index, 0: word } of node.data.matchAll(/\S+/g)) {
      range.setStart(node, index)
      range.setEnd(node, index + word.length)
      const { left, top, width, height } = this.place(range.getBoundingClientRect())
      const shown = style.textTransform === 'uppercase' ? word.toUpperCase() : word
      if (width > 0) pen.fillText(shown, left, top + height / 2, width + 1)
    }
  }

  /** As an image of its own, with the colours that it inherits here written into it. */
  private async icon(icon: SVGSVGElement, { left, top, width, height }: Box): Promise<void> {
    const copy = icon.cloneNode(true) as SVGSVGElement
    const from = [icon, ...icon.querySelectorAll('*')]
    for (const [index, to] of [copy, ...copy.querySelectorAll('*')].entries()) {
      const style = getComputedStyle(from[index] ?? icon)
      for (const name of ['fill', 'stroke', 'stroke-width', 'opacity'] as const)
        to.setAttribute(name, style.getPropertyValue(name))
    }
    copy.setAttribute('xmlns', 'http://www.w3.org/2000/svg')
    copy.setAttribute('width', String(width))
    copy.setAttribute('height', String(height))
    const image = new Image()
    image.src = `data:image/svg+xml;charset=utf-8,${encodeURIComponent(new XMLSerializer().serializeToString(copy))}`
    // One that cannot be drawn is left out.
    if (
      await image.decode().then(
        () => true,
        () => false
      )
    )
      this.pen.drawImage(image, left, top, width, height)
  }

  private place({ left, top, width, height }: Box): Box {
    return { left: left - this.origin.left, top: top - this.origin.top, width, height }
  }

  /** What has no box of its own may have children that have one. */
  private isInside({ left, top, width, height }: Box, { display }: CSSStyleDeclaration): boolean {
    if (display === 'contents' || width === 0 || height === 0) return true
    return left < this.origin.width && top < this.origin.height && left + width > 0 && top + height > 0
  }
}
