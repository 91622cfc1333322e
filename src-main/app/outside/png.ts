const signature = Buffer.from('89504e470d0a1a0a', 'hex')

/** Whether it begins as a PNG does: what goes into a bundle under that name is one. */
export const isPng = (bytes: Uint8Array): boolean => signature.equals(bytes.subarray(0, signature.length))
