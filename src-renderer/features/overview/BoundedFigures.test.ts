import { flushPromises, mount } from '@vue/test-utils'
import { expect, it } from 'vitest'
import type { ProbeLimit } from '@contract'
import { i18n } from '@/shared/i18n/i18n.ts'
import { readingAt } from '@/testing/demo-queue.ts'
import BoundedFigures from './BoundedFigures.vue'

it('tells what the table never says from what is held back now', async () => {
  const limit = (probe: string, reason: ProbeLimit['reason']): ProbeLimit => ({ probe, reason, index: null })
  const reading = readingAt({ types: [], failingSinceMs: null, workers: 0, silent: 0, gap: null, startedAt: 0 }, 0)
  const limits = [limit('retries', 'schema'), limit('durations', 'schema'), limit('oldest', 'plan')]
  const wrapper = mount(BoundedFigures, {
    props: { reading: { ...reading, limits } },
    global: { plugins: [i18n] },
    attachTo: document.body
  })
  expect(wrapper.text()).toBe('2 not known, 1 held back')
  await wrapper.find('button').trigger('click')
  await flushPromises()
  const parts = [...document.querySelectorAll('.limits section')].map((one) => one.textContent)
  expect(parts).toEqual([
    expect.stringMatching(/^It is another application's table.*Retry rate.*Pick-up and duration/),
    expect.stringMatching(/^Not as asked for now.*Oldest waiting/)
  ])
  wrapper.unmount()
})
