import { z } from 'zod'

/*
 * Must be the first import of the page. naive-ui makes <style> elements at run time, and the page's policy wants the nonce of
 * this load on each of them; the build leaves that nonce in <meta property="csp-nonce">.
 */
const nonce = document.querySelector<HTMLMetaElement>('meta[property=csp-nonce]')?.nonce
if (nonce) {
  const create = document.createElement.bind(document)
  document.createElement = (tag: string, options?: ElementCreationOptions): HTMLElement => {
    const element = create(tag, options)
    if (tag.toLowerCase() === 'style') element.nonce = nonce
    return element
  }
}

// The contract's schemas come along with its values; zod would otherwise try `new Function`, which the policy refuses.
z.config({ jitless: true })
