import { registerHooks, stripTypeScriptTypes } from 'node:module'
import { fileURLToPath } from 'node:url'
import { basename } from 'node:path'
import { readFileSync } from 'node:fs'
import { mutants, type Edit } from './mutants.ts'

/**
 * Edits the engine's sources as they are loaded into this process; nothing on disk changes. A process in which an edit met no text, or
 * more than one, ends with code 70: the fixture has fallen behind the engine.
 */
export function applyMutant(name: string): void {
  const mutant = mutants[name]
  if (!mutant) throw new Error(`There is no mutant ${name}.`)
  const waiting = new Set(mutant.edits)
  registerHooks({
    load(url, context, nextLoad) {
      const edits = url.includes('/src-main/') ? mutant.edits.filter(({ file }) => basename(url) === file) : []
      if (edits.length === 0) return nextLoad(url, context)
      let source = readFileSync(fileURLToPath(url), 'utf8')
      for (const edit of edits) {
        const parts = source.split(edit.find)
        if (parts.length !== 2) staleFixture(name, edit, parts.length - 1)
        source = parts.join(edit.replace)
        waiting.delete(edit)
      }
      return { format: 'module', source: stripTypeScriptTypes(source), shortCircuit: true }
    }
  })
  process.once('exit', () => {
    for (const edit of waiting) staleFixture(name, edit, 0)
  })
}

function staleFixture(name: string, edit: Edit, found: number): never {
  process.stderr.write(`mutant ${name}: ${edit.file} has ${found} times:\n${edit.find}\n`)
  process.exit(70)
}
