import { z } from 'zod'

/* What leaves the app on purpose: a picture of the page, and a bundle for a ticket. */

const pixels = z.int().min(0).max(16_384)

/** Of the window's content, in CSS pixels. */
export const pictureArea = z.object({ x: pixels, y: pixels, width: pixels.min(1), height: pixels.min(1) })
export type PictureArea = z.infer<typeof pictureArea>

/** PNG, as Base64; what one message from a page has room for. */
const picture = z.base64().max(7_000_000)

export const bundleRequest = z
  .object({
    /** By the clock of the database. */
    from: z.number().min(0),
    to: z.number().min(0),
    /** Hosts, users, databases and folders; without it they are left out. Secrets and payloads never are in it. */
    withNames: z.boolean().default(false),
    /** What the page shows; null leaves it out. */
    picture: picture.nullable().default(null)
  })
  .refine(({ from, to }) => to - from >= 60_000 && to - from <= 90 * 86_400_000, {
    path: ['to'],
    message: 'Between a minute and 90 days.'
  })
