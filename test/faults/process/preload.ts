// Loaded with `node --import` in front of the real worker process. It puts a recorder around the worker's stores
// (recorded-queue.ts) and, when MUTANT names one, breaks the engine on purpose (../mutants/apply.ts). Nothing in
// the product knows of either.
import { registerHooks } from 'node:module'
import { applyMutant } from '../mutants/apply.ts'

const recorder = new URL('recorded-queue.ts', import.meta.url).href

registerHooks({
  resolve(specifier, context, nextResolve) {
    const found = nextResolve(specifier, context)
    if (!found.url.endsWith('/src-main/app/worker/worker-queue.ts') || context.parentURL === recorder) return found
    return nextResolve(recorder, context)
  }
})

const mutant = process.env['MUTANT']
if (mutant) applyMutant(mutant)
