import { describe, expect, it } from 'vitest'
import { phrasesOf } from './phrases.ts'
import { judgeAnswer, judgeNoAnswer } from './verdict.ts'

const verdict = (format: Parameters<typeof judgeAnswer>[0], status: number, text: string): string => {
  const { delivered, again } = judgeAnswer(format, { status, text })
  return delivered ? 'delivered' : again ? 'again' : 'failed'
}

describe('what a receiver’s answer means', () => {
  it.each([
    ['json', 204, '', 'delivered'],
    ['slack', 200, 'ok', 'delivered'],
    ['slack', 404, 'no_service', 'failed'],
    ['json', 301, '', 'failed'],
    ['json', 429, '', 'again'],
    ['json', 503, '', 'again'],
    ['dingtalk', 200, '{"errcode":0,"errmsg":"ok"}', 'delivered'],
    ['dingtalk', 200, '{"errcode":310000,"errmsg":"sign not match"}', 'failed'],
    ['dingtalk', 200, '{"errcode":130101,"errmsg":"send too fast"}', 'again'],
    ['wecom', 200, '{"errcode":93000,"errmsg":"invalid webhook url"}', 'failed'],
    ['wecom', 200, '{"errcode":45009,"errmsg":"api freq out of limit"}', 'again'],
    ['feishu', 200, '{"StatusCode":0,"StatusMessage":"success","code":0,"msg":"success"}', 'delivered'],
    ['feishu', 200, '{"StatusCode":0,"code":19021,"msg":"sign match fail"}', 'failed'],
    ['feishu', 200, '{"StatusCode":0,"StatusMessage":"success"}', 'delivered'],
    ['feishu', 200, '<html>sign in to the network</html>', 'again'],
    ['dingtalk', 200, 'null', 'again'],
    ['dingtalk', 200, '{"errcode":"0"}', 'again']
  ] as const)('%s %i %s: %s', (format, status, text, expected) => {
    expect(verdict(format, status, text)).toBe(expected)
  })

  it('shows one short line of it', () => {
    expect(judgeAnswer('json', { status: 500, text: ` a\n\u202E${'b'.repeat(1_000)}` }).answer).toMatch(
      /^HTTP 500: a b{298}…$/
    )
    expect(judgeAnswer('json', { status: 204, text: '' }).answer).toBe('HTTP 204')
  })

  it('tries again after what may pass', () => {
    expect(judgeNoAnswer('timeout', phrasesOf('en'))).toEqual({
      delivered: false,
      again: true,
      answer: 'No answer in time.'
    })
    expect(judgeNoAnswer('certificate', phrasesOf('zh-CN'))).toMatchObject({
      again: false,
      answer: 'TLS 证书未被接受。'
    })
  })
})
