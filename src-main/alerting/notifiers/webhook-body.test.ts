import { createHmac } from 'node:crypto'
import { describe, expect, it } from 'vitest'
import { messageText } from './message-text.ts'
import { firingOf, messageOf } from './notifiers.fixture.ts'
import { parseWebhookAddress } from './webhook-address.ts'
import { requireUsableTemplate, signedRequest, webhookBody } from './webhook-body.ts'

const contentOf = (message = messageOf(), template = '') => ({ message, text: messageText(message, 'en'), template })

describe('body of a webhook', () => {
  it('is a JSON of our own with every figure', () => {
    expect(JSON.parse(webhookBody('json', contentOf()))).toMatchObject({
      source: 'taskdeck',
      version: 1,
      event: 'fired',
      connection: { id: 'orders-1', name: 'orders', environment: 'production' },
      incidentId: 'i1',
      firings: [
        { signal: 'oldestMs', value: 420_000, above: 300_000, since: '2026-11-30T01:50:00.000Z', resolvedAt: null }
      ]
    })
  })

  it('names the worst type in JSON and templates, and that there is none', () => {
    const worst = { type: 'pdf.invoice', value: 0.4 }
    const template = '{"worst": "{{worstType}}", "v": {{worstValue}}}'
    const bodies = [worst, null].map((one) => {
      const message = messageOf({ firings: [firingOf({ worst: one })] })
      const own = JSON.parse(webhookBody('json', contentOf(message))) as { firings: { worst: unknown }[] }
      return [own.firings[0]?.worst, JSON.parse(webhookBody('json', contentOf(message, template))) as unknown]
    })
    expect(bodies).toEqual([
      [worst, { worst: 'pdf.invoice', v: 0.4 }],
      [null, { worst: '', v: null }]
    ])
  })

  it('is what the user’s template makes of it', () => {
    const template = '{"msg": "{{title}}", "v": {{value}}, "at": "{{since}}", "n": {{count}}}'
    expect(JSON.parse(webhookBody('json', contentOf(messageOf(), template)))).toEqual({
      msg: '[Taskdeck] Alert: Oldest waiting task · orders',
      v: 420_000,
      at: '2026-11-30T01:50:00.000Z',
      n: 1
    })
  })

  it.each([
    ['slack', (body: { text: string }) => body.text],
    [
      'dingtalk',
      (body: { msgtype: string; text: { content: string } }) => (body.msgtype === 'text' ? body.text.content : '')
    ],
    [
      'wecom',
      (body: { msgtype: string; text: { content: string } }) => (body.msgtype === 'text' ? body.text.content : '')
    ],
    [
      'feishu',
      (body: { msg_type: string; content: { text: string } }) => (body.msg_type === 'text' ? body.content.text : '')
    ]
  ] as const)('is a plain text for %s in which no name calls anybody, and not too long', (format, textIn) => {
    const type = '<!channel> <at user_id="all"></at> & co'
    const many = Array.from({ length: 10 }, (_, n) => firingOf({ type: n === 0 ? type : `${'队'.repeat(90)}${n}` }))
    const text = textIn(JSON.parse(webhookBody(format, contentOf(messageOf({ firings: many })))) as never)
    expect(text).toContain('[Taskdeck] Alert: Oldest waiting task')
    expect(text).not.toMatch(/<|>/)
    expect(text).not.toContain('\uFFFD')
    expect(Buffer.byteLength(text)).toBeLessThanOrEqual(2_048)
  })

  it('checks a template before it is ever used', () => {
    requireUsableTemplate('')
    requireUsableTemplate('{"t": "{{text}}", "v": {{value}}}')
    expect(() => requireUsableTemplate('{"t": {{text}}')).toThrow(
      expect.objectContaining({ code: 'INVALID_INPUT' }) as Error
    )
    expect(() => requireUsableTemplate('{"t": "{{password}}"}')).toThrow('{{password}}')
  })
})

describe('signature', () => {
  const now = 1_764_467_400_123

  it('stands in the address for DingTalk', () => {
    const address = parseWebhookAddress('https://oapi.example.com/robot/send?access_token=t#SECx')
    const { url, body } = signedRequest('dingtalk', address, { body: '{}', now })
    const sign = createHmac('sha256', 'SECx').update(`${now}\nSECx`).digest('base64')
    expect(Object.fromEntries(url.searchParams)).toEqual({ access_token: 't', timestamp: String(now), sign })
    expect(body).toBe('{}')
    expect(url.hash).toBe('')
  })

  it('stands in the body for Feishu, of a time in seconds', () => {
    const address = parseWebhookAddress('https://open.example.com/hook/x#abc')
    const { url, body } = signedRequest('feishu', address, { body: '{"msg_type":"text"}', now })
    const sign = createHmac('sha256', '1764467400\nabc').digest('base64')
    expect(JSON.parse(body)).toEqual({ timestamp: '1764467400', sign, msg_type: 'text' })
    expect(url.href).toBe('https://open.example.com/hook/x')
  })

  it('is left out without a secret, and for those that know none', () => {
    const plain = parseWebhookAddress('https://a.example/x')
    expect(signedRequest('dingtalk', plain, { body: '{}', now })).toEqual({ url: plain.url, body: '{}' })
    expect(signedRequest('slack', parseWebhookAddress('https://a.example/x#s'), { body: '{}', now }).body).toBe('{}')
  })
})
