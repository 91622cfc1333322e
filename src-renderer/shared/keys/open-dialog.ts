/**
 * A dialog that floats over the page has the keys. While it leaves it is still in sight, but says `aria-modal="false"`: then the keys
 * are the page's again.
 */
export const isDialogOpen = (): boolean => document.querySelector('[aria-modal=true]') !== null
