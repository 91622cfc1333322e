import { describe, expect, it } from 'vitest'
import { alertSignals } from '../../kernel/index.ts'
import { messageText } from './message-text.ts'
import { firingOf, messageOf, since } from './notifiers.fixture.ts'

describe('text of a message', () => {
  it('says what is wrong, how much, since when and where', () => {
    expect(messageText(messageOf(), 'en')).toEqual({
      title: '[Taskdeck] Alert: Oldest waiting task · orders',
      body: 'Oldest waiting task: 7 min, above 5 min · since 2026-11-30 01:50:00 UTC\nConnection: orders (production)'
    })
    expect(messageText(messageOf(), 'zh-CN')).toEqual({
      title: '[Taskdeck] 告警：最久等待的任务 · orders',
      body: '最久等待的任务：7 分钟，超过 5 分钟 · 开始于 2026-11-30 01:50:00 UTC\n连接：orders（生产）'
    })
  })

  it('says which type makes a figure of the whole queue so', () => {
    const firing = firingOf({
      signal: 'failureRate',
      value: 0.136,
      above: 0.1,
      worst: { type: 'pdf\ninvoice', value: 0.4 }
    })
    const [en, zh] = (['en', 'zh-CN'] as const).map((language) =>
      messageText(messageOf({ firings: [firing] }), language)
    )
    expect(en?.body).toContain('minutes: 13.6 %, above 10 % · worst type pdf invoice: 40 % · since 2026-11-30')
    expect(zh?.body).toContain('超过 10 % · 最严重的类型 pdf invoice：40 % · 开始于')
  })

  it('says of one that is over how long it fired, as the page does, and how bad it was', () => {
    const over = firingOf({ resolvedAt: since + 1_200_000, value: 0, type: 'mail' })
    const text = messageText(messageOf({ what: 'resolved', firings: [over] }), 'en')
    expect(text.title).toBe('[Taskdeck] Resolved: Oldest waiting task (type mail) · orders')
    expect(text.body).toContain('Oldest waiting task (type mail): over after 19 min, worst 8.3 min')
  })

  it('counts the others in its title and bounds the lines', () => {
    const many = Array.from({ length: 30 }, (_, n) => firingOf({ id: `f${n}`, type: `t${n}` }))
    const { title, body } = messageText(messageOf({ what: 'repeated', firings: many }), 'en')
    expect(title).toBe('[Taskdeck] Still firing: Oldest waiting task (type t0) and 29 more · orders')
    expect(body.split('\n')).toHaveLength(11)
  })

  it.each([
    ['failureRate', 0.123, '12.3 %'],
    ['claimP95', 250, '250 ms'],
    ['blindMs', 61_000, '1 min'],
    ['oldestMs', 7_200_000, '2 h'],
    ['growth', 12, '12 tasks/min'],
    ['workersSilent', 2, '2']
  ] as const)('shows %s in its unit', (signal, value, shown) => {
    expect(messageText(messageOf({ firings: [firingOf({ signal, value })] }), 'en').body).toContain(`: ${shown}, above`)
  })

  it('names every signal in both languages', () => {
    for (const signal of alertSignals)
      for (const language of ['en', 'zh-CN'] as const)
        expect(messageText(messageOf({ firings: [firingOf({ signal })] }), language).body).not.toContain('undefined')
  })

  it('keeps the name of a type on its line, visible and short', () => {
    const type = `a\nALL CLEAR\u202Egnihton\u2028${'x'.repeat(500)}`
    const { title, body } = messageText(messageOf({ firings: [firingOf({ type })] }), 'en')
    expect(body.split('\n')).toHaveLength(2)
    expect(`${title}${body}`).not.toMatch(/[\u202E\u2028]/)
    expect(title.length).toBeLessThan(200)
  })

  it('reads a name that looks like a placeholder as a name', () => {
    expect(messageText(messageOf({ firings: [firingOf({ type: '{value}' })] }), 'en').body).toContain('(type {value})')
  })
})
