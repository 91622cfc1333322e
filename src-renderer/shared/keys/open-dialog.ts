/**
 * A dialog that floats over the page has the keys. While it leaves it is still in sight, but says `aria-modal="false"`: then the keys
 * are the page's again. So does an open menu, which says `data-open`: arrows and Enter are its own.
 */
export const isDialogOpen = (): boolean =>
  document.querySelector('[aria-modal=true], [role=menu][data-open=true]') !== null
