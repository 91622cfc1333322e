import { defineStore } from 'pinia'
import type { PictureArea } from '@contract'
import { useClient } from '@/transport/client.ts'
import { pictureOf } from '@/shared/page-picture.ts'
import { useAppStore } from './app-store.ts'

export interface BundleWish {
  readonly connectionId: string
  /** By the clock of the database. */
  readonly from: number
  readonly to: number
  readonly withNames: boolean
  readonly picture: Blob | null
}

/** What leaves the app on purpose. Rejects with what `toProblem` reads. */
export const useShareStore = defineStore('share', () => {
  /** PNG of a part of the page: the desktop takes it from the screen, a browser draws it anew. */
  function picture(element: HTMLElement): Promise<Blob> {
    if (useAppStore().info?.shell !== 'electron') return pictureOf(element)
    return useClient().outside.picture(areaOf(element))
  }

  async function bundle({ picture: shown, ...wish }: BundleWish): Promise<Blob> {
    return useClient().outside.bundle({ ...wish, picture: shown && (await base64Of(shown)) })
  }

  return { picture, bundle }
})

/** What is seen of it, in whole pixels. */
function areaOf(element: HTMLElement): PictureArea {
  const { left, top, right, bottom } = element.getBoundingClientRect()
  const [x, y] = [Math.max(0, Math.ceil(left)), Math.max(0, Math.ceil(top))]
  return {
    x,
    y,
    width: Math.max(1, Math.floor(Math.min(right, innerWidth)) - x),
    height: Math.max(1, Math.floor(Math.min(bottom, innerHeight)) - y)
  }
}

function base64Of(blob: Blob): Promise<string> {
  return new Promise((resolve, reject) => {
    const reader = new FileReader()
    reader.onload = () => resolve(typeof reader.result === 'string' ? reader.result.replace(/^data:[^,]*,/, '') : '')
    reader.onerror = () => reject(reader.error ?? new Error('The picture could not be read.'))
    reader.readAsDataURL(blob)
  })
}
