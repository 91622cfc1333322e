import { expect, it } from 'vitest'
import { messageLanguage } from './message-language.ts'

it('speaks as the page does, or as the machine', () => {
  expect(messageLanguage('en', 'zh-CN')).toBe('en')
  expect(messageLanguage('zh-CN', 'en-US')).toBe('zh-CN')
  expect(['zh-Hans-CN', 'ZH', 'de-DE', ''].map((locale) => messageLanguage('system', locale))).toEqual([
    'zh-CN',
    'zh-CN',
    'en',
    'en'
  ])
})
