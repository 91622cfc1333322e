import type { PictureArea } from '../../contract/index.ts'

/** PNG of a part of the window's content, in CSS pixels, as it is on screen. */
export type CapturePage = (area: PictureArea) => Promise<Uint8Array>
