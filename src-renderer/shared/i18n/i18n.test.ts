import { parse } from 'vue/compiler-sfc'
import { describe, expect, it } from 'vitest'
import { errorCodes, taskStates } from '@contract'
import { languages, messagesOf, resolveLanguage, type Messages } from './i18n.ts'

const sources = import.meta.glob<string>(['../../**/*.{vue,ts}', '!../../**/*.test.ts', '!../../testing/**'], {
  eager: true,
  query: '?raw',
  import: 'default'
})

function leaves(branch: Messages, path = ''): Map<string, string> {
  const found = new Map<string, string>()
  for (const [key, value] of Object.entries(branch)) {
    const name = path ? `${path}.${key}` : key
    if (typeof value === 'string') found.set(name, value)
    else for (const [inner, text] of leaves(value as Messages, name)) found.set(inner, text)
  }
  return found
}
const texts = { en: leaves(messagesOf('en')), 'zh-CN': leaves(messagesOf('zh-CN')) }
const placeholders = (text: string): string[] => [...new Set(text.match(/\{\w+\}/g) ?? [])].sort()

type Template = NonNullable<ReturnType<typeof parse>['descriptor']['template']>
type TemplateChildNode = NonNullable<Template['ast']>['children'][number]

const translatable = ['title', 'aria-label', 'alt', 'label', 'text', 'placeholder']

/** Texts and translatable attributes that stand literally in a template. */
function literals(nodes: readonly TemplateChildNode[], found: string[] = []): string[] {
  for (const node of nodes) {
    if (!('props' in node)) {
      const isText = 'content' in node && typeof node.content === 'string' && !node.loc.source.startsWith('<!--')
      if (isText && /\p{L}{2}/u.test(node.content as string)) found.push((node.content as string).trim())
      continue
    }
    for (const prop of node.props) {
      const text = 'value' in prop ? (prop.value?.content ?? '') : ''
      if (translatable.includes(prop.name) && /\p{L}{2}/u.test(text)) found.push(text)
    }
    literals(node.children, found)
  }
  return found
}

describe('i18n', () => {
  it('has the same keys in both languages', () => {
    expect([...texts['zh-CN'].keys()].sort()).toEqual([...texts.en.keys()].sort())
    expect(texts.en.size).toBeGreaterThan(100)
  })

  it('has no empty text, and the same placeholders in both languages', () => {
    for (const [key, text] of texts.en) {
      const other = texts['zh-CN'].get(key) ?? ''
      expect(text, key).not.toBe('')
      expect(other, key).not.toBe('')
      expect(placeholders(other), key).toEqual(placeholders(text))
    }
  })

  it('has every key that the code names', () => {
    for (const [file, source] of Object.entries(sources)) {
      for (const [, key = ''] of source.matchAll(/\bt\(\s*'([\w.-]+)'/g)) {
        expect(texts.en.has(key), `${key} in ${file}`).toBe(true)
      }
    }
  })

  it('explains every error code and names every state', () => {
    for (const language of languages) {
      for (const code of [...errorCodes, 'APP_GONE', 'BAD_REQUEST']) {
        expect(texts[language].has(`problems.${code}.what`), code).toBe(true)
        expect(texts[language].has(`problems.${code}.try`), code).toBe(true)
      }
      for (const state of taskStates) expect(texts[language].has(`states.${state}`), state).toBe(true)
    }
  })

  it('is the only place with text: no template has a literal one', () => {
    const templates = Object.entries(sources).filter(([file]) => file.endsWith('.vue'))
    expect(templates.length).toBeGreaterThan(20)
    for (const [file, source] of templates) {
      const ast = parse(source).descriptor.template?.ast
      // An example address is not language.
      const found = ast ? literals(ast.children).filter((text) => text !== '127.0.0.1') : []
      expect(found, file).toEqual([])
    }
  })

  it('finds a literal text when there is one', () => {
    const ast = parse('<template><p title="Hello">{{ t("x") }} world</p></template>').descriptor.template?.ast
    expect(literals(ast?.children ?? [])).toEqual(['Hello', 'world'])
  })

  it('follows the system, and reads English where it is neither', () => {
    expect(resolveLanguage('system', ['zh-TW', 'en'])).toBe('zh-CN')
    expect(resolveLanguage('system', ['fr'])).toBe('en')
    expect(resolveLanguage('zh-CN', ['en'])).toBe('zh-CN')
  })
})
